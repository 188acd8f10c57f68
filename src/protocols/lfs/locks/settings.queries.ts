import type { Queries, Transaction } from '../../../database/database.ts'
import type { LfsSettingsTable } from '../../../database/tables/lfs.ts'

export const findSettings = (q: Queries, repository: string): Promise<LfsSettingsTable | undefined> =>
  q.selectFrom('lfs_settings').selectAll().where('repository', '=', repository).executeTakeFirst()

export const writeSettings = async (tx: Transaction, row: LfsSettingsTable): Promise<void> => {
  await tx
    .insertInto('lfs_settings')
    .values(row)
    .onConflict((conflict) => conflict.column('repository').doUpdateSet(row))
    .execute()
}
