import { setImmediate as nextRound } from 'node:timers/promises'
import { graceEndMs } from '../../../content/reclaim/grace.ts'
import type { Database, Queries } from '../../../database/database.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import { npmSearchedAtOnce } from '../../../kernel/limits/npm.ts'
import { opaqueCursor, positionOfCursor } from '../../../kernel/opaque-cursor.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import { type Fields, objectOf } from '../fields.ts'
import { packageState } from '../packages.queries.ts'
import type { PackageName } from '../reading.ts'
import { packageUnknown, versionUnknown } from '../refusals.ts'
import { stageNamesOf } from '../staged.queries.ts'
import { isPackageName } from '../vocabulary.ts'
import {
  countPackageRows,
  deletedPage,
  graceHoursHere,
  openedVersion,
  packageNames,
  packagePage,
  packagesCalled,
  tagsAt,
  versionPage,
} from './listing.queries.ts'

export interface AskedPage {
  readonly after: string | undefined
  readonly limit: number
}

/** What a request asks of a page. */
export const pageAsked = ({
  after,
  limit = pageDefault,
}: {
  readonly after?: string
  readonly limit?: number
}): AskedPage => ({
  after,
  limit,
})

/** Packages of a repository that have a part in their names, in the order of these. */
export const packagesOf = async (
  q: Queries,
  repository: string,
  { part, after, limit }: AskedPage & { readonly part: string },
) => {
  const listing = ['npm packages', repository, part]
  const last = after === undefined ? '' : (positionOfCursor(listing, after, [isPackageName])[0] ?? '')
  const cursorAt = (name: string): string => opaqueCursor(listing, [name])
  if (part === '') {
    const rows = await packagePage(q, repository, last, limit + 1)
    return pageOf(rows, limit, shownPackage, ({ name }) => cursorAt(name))
  }
  // Where it goes on is said by the names: one that goes before its row is read ends no list.
  const found = await namesWith(q, repository, last, part.toLowerCase(), limit + 1)
  const { items: names, next } = pageOf(found, limit, (name) => name, cursorAt)
  const rows = names.length === 0 ? [] : await packagesCalled(q, repository, names)
  return { items: rows.map(shownPackage), next }
}

const shownPackage = (row: Awaited<ReturnType<typeof packagePage>>[number]) => {
  const { name, versions, summary, created_at: createdAt, modified_at: modifiedAt } = row
  const { version, description } = objectOf(JSON.parse(summary ?? '{}'))
  const latest = typeof version === 'string' ? version : null
  return { name, versions, latest, description: String(description ?? ''), createdAt, modifiedAt }
}

/** Names are looked at some at a time: others have their turn, however many are passed over. */
const namesWith = async (
  q: Queries,
  repository: string,
  behind: string,
  part: string,
  limit: number,
): Promise<string[]> => {
  const names: string[] = []
  for (let last = behind; ; ) {
    const some = await packageNames(q, repository, last, npmSearchedAtOnce)
    names.push(...some.filter((name) => name.includes(part)).slice(0, limit - names.length))
    const end = some.at(-1)
    if (end === undefined || some.length < npmSearchedAtOnce || names.length === limit) break
    last = end
    await nextRound()
  }
  return names
}

const isNumber = (text: string): boolean => /^[1-9][0-9]{0,14}$/.test(text)

/** A page of versions by their numbers, and where the next one begins. */
const byNumber = async <Row extends { readonly number: number }, Item>(
  listing: readonly unknown[],
  { after, limit }: AskedPage,
  rowsBefore: (before: number, limit: number) => Promise<Row[]>,
  shown: (rows: readonly Row[]) => Promise<(row: Row) => Item>,
): Promise<Page<Item>> => {
  const before = after === undefined ? Number.MAX_SAFE_INTEGER : Number(positionOfCursor(listing, after, [isNumber])[0])
  const rows = await rowsBefore(before, limit + 1)
  return pageOf(rows, limit, await shown(rows), ({ number }) => opaqueCursor(listing, [String(number)]))
}

const tagsById = async (q: Queries, ids: readonly string[]): Promise<(id: string) => string[]> => {
  const tags = ids.length === 0 ? [] : await tagsAt(q, ids)
  const of = Map.groupBy(tags, ({ version_id }) => version_id)
  return (id) => (of.get(id) ?? []).map(({ tag }) => tag).toSorted()
}

/** Versions of a package, the newest first. 404 without it. */
export const versionsOf = async (q: Queries, here: PackageName, asked: AskedPage) => {
  if ((await packageState(q, here)) === undefined) throw packageUnknown(here.name)
  return byNumber(
    ['npm versions', here.repository, here.name],
    asked,
    (before, limit) => versionPage(q, here, before, limit),
    async (rows) => {
      const tagsOf = await tagsById(
        q,
        rows.map(({ id }) => id),
      )
      return ({ id, version, size, publishedAt, deprecated, actor }) => ({
        ...{ version, size: String(size), publishedAt, deprecated, actor, tags: tagsOf(id) },
      })
    },
  )
}

export interface KeepingDeps {
  readonly database: Pick<Database, 'reader'>
  /** The server's grace period. */
  readonly cleanupGraceMs: number
}

/** Versions that can be brought back, the newest first. */
export const deletedVersionsOf = async (
  { database, cleanupGraceMs }: KeepingDeps,
  here: PackageName,
  asked: AskedPage,
) => {
  const q = database.reader
  const graceHours = await graceHoursHere(q, here.repository)
  return byNumber(
    ['deleted npm versions', here.repository, here.name],
    asked,
    (before, limit) => deletedPage(q, here, before, limit),
    async () =>
      ({ version, size, publishedAt, deprecated, actor, deletedAt }) => {
        const since = deletedAt ?? publishedAt
        const keptUntil = timestamp(graceEndMs(since, graceHours, cleanupGraceMs))
        return { version, size: String(size), publishedAt, deprecated, actor, deletedAt: since, keptUntil }
      },
  )
}

/** What is known of a version. 404 without it. */
export const openVersion = async (q: Queries, here: PackageName, version: string) => {
  const found = await openedVersion(q, here, version)
  if (found === undefined) throw versionUnknown(here.name, version)
  const { id, size, unpacked_size, sha512, manifest, attested, ...told } = found
  const all: Fields = objectOf(JSON.parse(manifest))
  const needed = (field: string): Record<string, string> =>
    Object.fromEntries(Object.entries(objectOf(all[field])).map(([name, range]) => [name, String(range)]))
  return {
    ...told,
    size: String(size),
    unpackedSize: String(unpacked_size),
    integrity: `sha512-${sha512}`,
    attested: attested === 1,
    tags: (await tagsById(q, [id]))(id),
    stages: await stageNamesOf(q, id),
    dependencies: needed('dependencies'),
    devDependencies: needed('devDependencies'),
    peerDependencies: needed('peerDependencies'),
    optionalDependencies: needed('optionalDependencies'),
  }
}

/** How many packages are in the repository, up to so many. */
export const countPackages = countPackageRows
