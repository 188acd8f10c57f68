import type { Transaction } from '../../database/database.ts'
import type { ArtifactsTable } from '../../database/tables/artifacts.ts'

/** Takes the locks of repositories that are there, in the order of their ids. Which they were. */
export const lockRepositories = async (tx: Transaction, ids: readonly string[]): Promise<string[]> =>
  (
    await tx
      .selectFrom('repositories')
      .select('id')
      .where('id', 'in', ids)
      .where('deleted_at', 'is', null)
      .orderBy('id')
      .forUpdate()
      .execute()
  ).map(({ id }) => id)

export const insertCopy = async (tx: Transaction, row: ArtifactsTable): Promise<void> => {
  await tx.insertInto('artifacts').values(row).execute()
}
