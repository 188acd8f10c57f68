import { sql } from 'kysely'
import type { Queries, Transaction } from '../../../database/database.ts'
import type { PackagesTable } from '../../../database/tables/packages.ts'

export const findPackageOf = (q: Queries, artifactId: string): Promise<PackagesTable | undefined> =>
  q.selectFrom('packages').selectAll().where('artifact_id', '=', artifactId).executeTakeFirst()

/** The version that a file is, or was before it was deleted. */
export const findVersionOf = async (q: Queries, artifactId: string): Promise<PackagesTable | undefined> =>
  (await findPackageOf(q, artifactId)) ??
  (await q.selectFrom('freed_packages').selectAll().where('artifact_id', '=', artifactId).executeTakeFirst())

type VersionKeys = Pick<PackagesTable, 'repository' | 'group_key' | 'name_key' | 'version_key'>

/**
 * The holder of a version, however it is written; where there are several from of old, the one that is written alike.
 */
export const findSameVersion = async (q: Queries, { repository, group_key, name_key, version_key }: VersionKeys) => {
  const rows = await q
    .selectFrom('packages')
    .select(['artifact_id', 'group_name', 'name', 'version', 'version_key'])
    .where('repository', '=', repository)
    .where('group_key', '=', group_key)
    .where('name_key', '=', name_key)
    .where(sql<string>`lower(version_key)`, '=', version_key.toLowerCase())
    .limit(spellingsReadMax)
    .execute()
  return rows.find((row) => row.version_key === version_key) ?? rows[0]
}

/** As many spellings of one version as anybody will have registered while they counted as several. */
const spellingsReadMax = 100

export const insertPackage = async (tx: Transaction, row: PackagesTable): Promise<void> => {
  await tx.insertInto('packages').values(row).execute()
}

export const moveToFreed = async (tx: Transaction, artifactId: string): Promise<void> => {
  const row = await tx.deleteFrom('packages').where('artifact_id', '=', artifactId).returningAll().executeTakeFirst()
  if (row !== undefined) await tx.insertInto('freed_packages').values(row).execute()
}

/** False where there was nothing to move. `take` refuses by throwing. */
export const moveBack = async (
  tx: Transaction,
  artifactId: string,
  take: (row: PackagesTable) => Promise<void>,
): Promise<boolean> => {
  const row = await tx
    .deleteFrom('freed_packages')
    .where('artifact_id', '=', artifactId)
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) return false
  await take(row)
  await insertPackage(tx, row)
  return true
}

export const forgetFreed = async (tx: Transaction, artifactId: string): Promise<void> => {
  await tx.deleteFrom('freed_packages').where('artifact_id', '=', artifactId).execute()
}

/** Package versions whose time of publication is not that of their file. */
export const packagesBesideTheirTime = (q: Queries, limit: number) =>
  q
    .selectFrom('packages')
    .innerJoin('artifacts', 'artifacts.id', 'packages.artifact_id')
    .select(['packages.artifact_id', 'packages.repository', 'artifacts.published_at'])
    .whereRef('packages.published_at', '!=', 'artifacts.published_at')
    .limit(limit)
    .execute()

export const setPublication = async (tx: Transaction, artifactId: string, publishedAt: string): Promise<void> => {
  await tx.updateTable('packages').set({ published_at: publishedAt }).where('artifact_id', '=', artifactId).execute()
}

/** Freed versions of files that are there, or that are gone for good. */
export const freedWithoutDeleted = (q: Queries, limit: number) =>
  q
    .selectFrom('freed_packages')
    .leftJoin('deleted_artifacts', (join) =>
      join
        .onRef('deleted_artifacts.id', '=', 'freed_packages.artifact_id')
        .on('deleted_artifacts.released_at', 'is', null),
    )
    .select(['freed_packages.artifact_id', 'freed_packages.repository'])
    .where('deleted_artifacts.id', 'is', null)
    .limit(limit)
    .execute()
