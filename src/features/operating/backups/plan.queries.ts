import type { Queries, Transaction } from '../../../database/database.ts'
import type { BackupAgentsTable, BackupPlanTable } from '../../../database/tables/backups.ts'

export const findPlanRow = (q: Queries): Promise<BackupPlanTable | undefined> =>
  q.selectFrom('backup_plan').selectAll().executeTakeFirst()

export const lockPlanRow = (tx: Transaction): Promise<BackupPlanTable | undefined> =>
  tx.selectFrom('backup_plan').selectAll().forUpdate().executeTakeFirst()

export const writePlanRow = async (tx: Transaction, row: BackupPlanTable): Promise<void> => {
  const { id: _, ...rest } = row
  await tx
    .insertInto('backup_plan')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
    .execute()
}

export const countPlanFrom = async (tx: Transaction, at: string): Promise<void> => {
  await tx.updateTable('backup_plan').set({ counted_from: at }).execute()
}

export const findAgentRow = (q: Queries): Promise<BackupAgentsTable | undefined> =>
  q.selectFrom('backup_agents').selectAll().executeTakeFirst()

export const lockAgentRow = (tx: Transaction): Promise<BackupAgentsTable | undefined> =>
  tx.selectFrom('backup_agents').selectAll().forUpdate().executeTakeFirst()

export const insertAgentRow = async (tx: Transaction, row: BackupAgentsTable): Promise<void> => {
  await tx.insertInto('backup_agents').values(row).execute()
}

/** Changes the row of the agent, if it is still the one. */
export const updateAgentRow = async (
  tx: Transaction,
  holder: string,
  to: Partial<BackupAgentsTable>,
): Promise<boolean> => {
  const { numUpdatedRows } = await tx
    .updateTable('backup_agents')
    .set(to)
    .where('holder', '=', holder)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
