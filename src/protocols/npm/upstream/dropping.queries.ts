import type { Queries, Transaction } from '../../../database/database.ts'

/** What is to be dropped: of a package, or of one of its versions; of all where neither is named. */
export interface Unwanted {
  readonly repository: string
  readonly name: string | undefined
  readonly version: string | undefined
}

/** Tarballs that are kept, in the order of their claims. */
export const cachedTarballs = async (
  q: Queries,
  { repository, name, version }: Unwanted,
  limit: number,
): Promise<string[]> => {
  let rows = q.selectFrom('npm_cached_versions').select('id').where('repository', '=', repository)
  if (name !== undefined) rows = rows.where('name', '=', name)
  if (version !== undefined) rows = rows.where('version', '=', version)
  return (await rows.orderBy('id').limit(limit).execute()).map(({ id }) => id)
}

/** Takes them away; answers those that were there still. */
export const deleteCachedVersions = (tx: Transaction, ids: readonly string[]) =>
  tx
    .deleteFrom('npm_cached_versions')
    .where('id', 'in', ids)
    .returning(['id', 'package_id', 'name', 'version', 'sha256', 'size'])
    .execute()

/** Packages of upstreams, some of them. */
export const cachedPackageIds = async (
  q: Queries,
  { repository, name }: Unwanted,
  after: string,
  limit: number,
): Promise<string[]> => {
  let rows = q
    .selectFrom('npm_cached_packages')
    .select('id')
    .where('repository', '=', repository)
    .where('id', '>', after)
  if (name !== undefined) rows = rows.where('name', '=', name)
  return (await rows.orderBy('id').limit(limit).execute()).map(({ id }) => id)
}

/** Names of upstreams that are a repository's own by now. */
export const cachedAndOwn = (q: Queries, limit: number) =>
  q
    .selectFrom('npm_cached_packages')
    .innerJoin('npm_packages', (join) =>
      join
        .onRef('npm_packages.repository', '=', 'npm_cached_packages.repository')
        .onRef('npm_packages.name', '=', 'npm_cached_packages.name'),
    )
    .select(['npm_cached_packages.repository', 'npm_cached_packages.name'])
    .limit(limit)
    .execute()
