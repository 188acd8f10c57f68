import type { Queries } from '../../../database/database.ts'
import type { PackagesTable } from '../../../database/tables/packages.ts'

export type VersionTable = 'packages' | 'freed_packages'

/** Versions by the ids of their files, and how long their manifests are. */
export const versionSizesAfter = (q: Queries, table: VersionTable, after: string, limit: number) =>
  q
    .selectFrom(table)
    .select(['artifact_id', 'manifest_bytes'])
    .where('artifact_id', '>', after)
    .orderBy('artifact_id')
    .limit(limit)
    .execute()

export const versionRows = (q: Queries, table: VersionTable, ids: readonly string[]): Promise<PackagesTable[]> =>
  q.selectFrom(table).selectAll().where('artifact_id', 'in', ids).orderBy('artifact_id').execute()
