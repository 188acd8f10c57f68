import type { Queries, Transaction } from '../../../database/database.ts'
import type { BackupRehearsalsTable } from '../../../database/tables/backups.ts'

export type RehearsalRow = BackupRehearsalsTable

export const insertRehearsal = async (tx: Transaction, row: RehearsalRow): Promise<void> => {
  await tx.insertInto('backup_rehearsals').values(row).execute()
}

/** Of one that has not ended. */
export const endRehearsalRow = async (tx: Transaction, id: string, to: Partial<RehearsalRow>): Promise<void> => {
  await tx.updateTable('backup_rehearsals').set(to).where('id', '=', id).where('ended_at', 'is', null).execute()
}

/** The last that was begun of a vault by then, or the last of those that ended well. */
export const lastRehearsal = (
  q: Queries,
  vault: string,
  until: string,
  proven: boolean,
): Promise<RehearsalRow | undefined> =>
  q
    .selectFrom('backup_rehearsals')
    .selectAll()
    .where('vault_id', '=', vault)
    .where('begun_at', '<=', until)
    .$if(proven, (query) => query.where('ended_at', 'is not', null).where('error_code', 'is', null))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()

/** Those that were begun before a moment, but for one. */
export const forgetRehearsals = async (tx: Transaction, before: string, but: string): Promise<void> => {
  await tx.deleteFrom('backup_rehearsals').where('begun_at', '<', before).where('id', '<>', but).execute()
}
