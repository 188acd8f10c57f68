import type { Queries } from '../../../database/database.ts'
import type { Position } from '../../../features/lifecycle/policies/counted.ts'

/** A package by its name; its versions are counted together. */
export interface CountedPackage {
  readonly name: string
}

/** Names of packages after one, in order, with the versions that one look counted of each. */
export const countNpmVersions = async (
  q: Queries,
  repository: string,
  after: CountedPackage | null,
  limit: number,
): Promise<{ name: string; versions: number }[]> => {
  const looked = q
    .selectFrom('npm_versions')
    .select('name')
    .where('repository', '=', repository)
    .where('name', '>', after?.name ?? '')
    .where('deleted_at', 'is', null)
    .orderBy('name')
    .limit(limit)
  const rows = await q
    .selectFrom(looked.as('looked'))
    .select((eb) => ['name', eb.fn.countAll<number | string>().as('versions')])
    .groupBy('name')
    .orderBy('name')
    .execute()
  return rows.map((row) => ({ ...row, versions: Number(row.versions) }))
}

/** Those of a package, or of all. */
const versionsIn = (q: Queries, repository: string, counted: CountedPackage | null) => {
  const all = q
    .selectFrom('npm_versions')
    .select(['published_at as at', 'id'])
    .where('repository', '=', repository)
    .where('deleted_at', 'is', null)
  return counted === null ? all : all.where('name', '=', counted.name)
}

/** The newest, or the newest before a position. */
export const newestNpmVersions = (
  q: Queries,
  repository: string,
  counted: CountedPackage | null,
  before: Position | null,
  limit: number,
): Promise<Position[]> => {
  const rows = versionsIn(q, repository, counted).orderBy('published_at', 'desc').orderBy('id', 'desc').limit(limit)
  if (before === null) return rows.execute()
  return rows.where((eb) => eb(eb.refTuple('published_at', 'id'), '<', eb.tuple(before.at, before.id))).execute()
}

/** The n-th newest, counted from 1. */
export const nthNewestNpmVersion = (
  q: Queries,
  repository: string,
  counted: CountedPackage | null,
  n: number,
): Promise<Position | undefined> =>
  versionsIn(q, repository, counted)
    .orderBy('published_at', 'desc')
    .orderBy('id', 'desc')
    .offset(n - 1)
    .limit(1)
    .executeTakeFirst()

/** The oldest after a position and before another. */
export const oldestNpmVersions = (
  q: Queries,
  repository: string,
  counted: CountedPackage | null,
  { after, before }: { readonly after: Position | null; readonly before: Position },
  limit: number,
): Promise<Position[]> => {
  const rows = versionsIn(q, repository, counted)
    .where((eb) => eb(eb.refTuple('published_at', 'id'), '<', eb.tuple(before.at, before.id)))
    .orderBy('published_at')
    .orderBy('id')
    .limit(limit)
  if (after === null) return rows.execute()
  return rows.where((eb) => eb(eb.refTuple('published_at', 'id'), '>', eb.tuple(after.at, after.id))).execute()
}

/** Those of some versions that are there, by package and then by time. */
export const npmVersionsAmong = (q: Queries, repository: string, ids: readonly string[]) =>
  q
    .selectFrom('npm_versions')
    .select(['id', 'name', 'version', 'published_at'])
    .where('repository', '=', repository)
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .orderBy('name')
    .orderBy('published_at')
    .orderBy('id')
    .execute()

/** Tags of some versions, in order: a package has a thousand at most. */
export const npmTagsAmong = (q: Queries, ids: readonly string[]): Promise<{ version_id: string; tag: string }[]> =>
  q
    .selectFrom('npm_tags')
    .select(['version_id', 'tag'])
    .where('version_id', 'in', ids)
    .orderBy('version_id')
    .orderBy('tag')
    .execute()

/** Which of some versions have a stage. */
export const npmStagedAmong = async (q: Queries, ids: readonly string[]): Promise<ReadonlySet<string>> => {
  const rows = await q.selectFrom('npm_stages').select('version_id').distinct().where('version_id', 'in', ids).execute()
  return new Set(rows.map(({ version_id }) => version_id))
}
