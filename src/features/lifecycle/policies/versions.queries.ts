import type { Queries } from '../../../database/database.ts'
import type { PackagesTable } from '../../../database/tables/packages.ts'
import type { Position } from './counted.ts'

/** A package by its keys; its versions are counted together. */
export type Package = Pick<PackagesTable, 'group_key' | 'name_key'>

/** Packages after one, in the order of their names, with the versions that one look counted of each. */
export const countVersions = async (
  q: Queries,
  repository: string,
  after: Package | null,
  limit: number,
): Promise<{ group_key: string; name_key: string; versions: number }[]> => {
  const from = q
    .selectFrom('packages')
    .select(['group_key', 'name_key'])
    .where('repository', '=', repository)
    .orderBy('group_key')
    .orderBy('name_key')
    .limit(limit)
  const looked =
    after === null
      ? from
      : from.where((eb) => eb(eb.refTuple('group_key', 'name_key'), '>', eb.tuple(after.group_key, after.name_key)))
  const rows = await q
    .selectFrom(looked.as('looked'))
    .select((eb) => ['group_key', 'name_key', eb.fn.countAll<number | string>().as('versions')])
    .groupBy(['group_key', 'name_key'])
    .orderBy('group_key')
    .orderBy('name_key')
    .execute()
  return rows.map((row) => ({ ...row, versions: Number(row.versions) }))
}

/** Those of a package, or of all. */
const versionsIn = (q: Queries, repository: string, group: Package | null) => {
  const all = q
    .selectFrom('packages')
    .select(['published_at as at', 'artifact_id as id'])
    .where('repository', '=', repository)
  return group === null ? all : all.where('group_key', '=', group.group_key).where('name_key', '=', group.name_key)
}

/** The newest versions, or the newest before a position. */
export const newestVersions = (
  q: Queries,
  repository: string,
  group: Package | null,
  before: Position | null,
  limit: number,
): Promise<Position[]> => {
  const rows = versionsIn(q, repository, group)
    .orderBy('published_at', 'desc')
    .orderBy('artifact_id', 'desc')
    .limit(limit)
  if (before === null) return rows.execute()
  return rows
    .where((eb) => eb(eb.refTuple('published_at', 'artifact_id'), '<', eb.tuple(before.at, before.id)))
    .execute()
}

/** The n-th newest version, counted from 1. */
export const nthNewest = (
  q: Queries,
  repository: string,
  group: Package | null,
  n: number,
): Promise<Position | undefined> =>
  versionsIn(q, repository, group)
    .orderBy('published_at', 'desc')
    .orderBy('artifact_id', 'desc')
    .offset(n - 1)
    .limit(1)
    .executeTakeFirst()

/** The oldest versions after a position and before another. */
export const oldestVersions = (
  q: Queries,
  repository: string,
  group: Package | null,
  between: { readonly after: Position | null; readonly before: Position },
  limit: number,
): Promise<Position[]> => {
  const { after, before } = between
  const rows = versionsIn(q, repository, group)
    .where((eb) => eb(eb.refTuple('published_at', 'artifact_id'), '<', eb.tuple(before.at, before.id)))
    .orderBy('published_at')
    .orderBy('artifact_id')
    .limit(limit)
  if (after === null) return rows.execute()
  return rows.where((eb) => eb(eb.refTuple('published_at', 'artifact_id'), '>', eb.tuple(after.at, after.id))).execute()
}

/** Those of a package beside each other. */
export const findVersions = (q: Queries, repository: string, ids: readonly string[]) =>
  q
    .selectFrom('packages')
    .select(['artifact_id', 'group_key', 'name_key', 'published_at', 'group_name', 'name', 'version'])
    .where('repository', '=', repository)
    .where('artifact_id', 'in', ids)
    .orderBy('group_key')
    .orderBy('name_key')
    .orderBy('published_at')
    .orderBy('artifact_id')
    .execute()
