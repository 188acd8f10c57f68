import type { Queries } from '../../../database/database.ts'
import { opaqueCursor, positionOfCursor } from '../../../kernel/opaque-cursor.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import type { AskedPage } from '../packages/listing.ts'
import type { PackageName } from '../reading.ts'
import { packageUnknown } from '../refusals.ts'
import { findCached } from './cached.queries.ts'
import { cachedPackagePage, cachedSums, cachedVersionPage } from './listing.queries.ts'
import { isAskableName } from './names.ts'

/** Packages of a repository that came from its upstream, which have a part in their names, in the order of these. */
export const cachedPackagesOf = async (
  q: Queries,
  repository: string,
  { part, after, limit }: AskedPage & { readonly part: string },
) => {
  const listing = ['cached npm packages', repository, part]
  const last = after === undefined ? '' : (positionOfCursor(listing, after, [isAskableName])[0] ?? '')
  const rows = await cachedPackagePage(q, repository, last, part.toLowerCase(), limit + 1)
  const sums = await cachedSums(
    q,
    rows.map(({ id }) => id),
  )
  return pageOf(
    rows,
    limit,
    ({ id, name, url, versions, left_out: leftOut, fetched_at, checked_at, failure, failed_at: failedAt }) => {
      const { tarballs, bytes } = sums.get(id) ?? { tarballs: 0, bytes: 0 }
      return {
        ...{ name, url, versions, leftOut, tarballs, tarballBytes: String(bytes) },
        ...{ fetchedAt: fetched_at, checkedAt: checked_at, failure, failedAt },
      }
    },
    ({ name }) => opaqueCursor(listing, [name]),
  )
}

interface CachedVersion {
  readonly version: string
  readonly size: string
  readonly integrity: string
  readonly fetchedAt: string
  readonly actor: string
}

const isVersionText = (text: string): boolean => /^[0-9A-Za-z.+-]{1,256}$/.test(text)

/** Versions of a package whose tarballs are kept. 404 without it. */
export const cachedVersionsOf = async (
  q: Queries,
  here: PackageName,
  { after, limit }: AskedPage,
): Promise<Page<CachedVersion>> => {
  if ((await findCached(q, here)) === undefined) throw packageUnknown(here.name)
  const listing = ['cached npm versions', here.repository, here.name]
  const last = after === undefined ? '' : (positionOfCursor(listing, after, [isVersionText])[0] ?? '')
  const rows = await cachedVersionPage(q, here, last, limit + 1)
  return pageOf(
    rows,
    limit,
    ({ version, size, sha512, fetched_at: fetchedAt, actor }) => ({
      ...{ version, size: String(size), integrity: `sha512-${sha512}`, fetchedAt, actor },
    }),
    ({ version }) => opaqueCursor(listing, [version]),
  )
}
