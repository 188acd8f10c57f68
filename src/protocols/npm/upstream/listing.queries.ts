import { sql } from 'kysely'
import type { Queries } from '../../../database/database.ts'

type Named = { readonly repository: string; readonly name: string }

/** Packages of upstreams behind a name, in the order of their names; `part` is a part of it, '' for any. */
export const cachedPackagePage = (q: Queries, repository: string, last: string, part: string, limit: number) => {
  const rows = q
    .selectFrom('npm_cached_packages')
    .select(['id', 'name', 'url', 'versions', 'left_out', 'fetched_at', 'checked_at', 'failure', 'failed_at'])
    .where('repository', '=', repository)
    .where('name', '>', last)
    .orderBy('name')
    .limit(limit)
  const escaped = part.replaceAll(/[\\%_]/g, '\\$&')
  return (part === '' ? rows : rows.where(sql<boolean>`lower(name) like ${`%${escaped}%`} escape '\\'`)).execute()
}

/** How many tarballs are kept of some packages, and what they take. */
export const cachedSums = async (
  q: Queries,
  packageIds: readonly string[],
): Promise<ReadonlyMap<string, { readonly tarballs: number; readonly bytes: number }>> => {
  if (packageIds.length === 0) return new Map()
  const rows = await q
    .selectFrom('npm_cached_versions')
    .select((eb) => [
      'package_id',
      eb.fn.countAll<number | string>().as('tarballs'),
      eb.fn.sum<number | string>('size').as('bytes'),
    ])
    .where('package_id', 'in', packageIds)
    .groupBy('package_id')
    .execute()
  return new Map(
    rows.map(({ package_id, tarballs, bytes }) => [package_id, { tarballs: Number(tarballs), bytes: Number(bytes) }]),
  )
}

/** Versions whose tarballs are kept, behind one of them. */
export const cachedVersionPage = (q: Queries, { repository, name }: Named, last: string, limit: number) =>
  q
    .selectFrom('npm_cached_versions')
    .select(['version', 'size', 'sha512', 'fetched_at', 'actor'])
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('version', '>', last)
    .orderBy('version')
    .limit(limit)
    .execute()
