import type { Queries, Transaction } from '../database.ts'
import type { InstallationTable } from '../tables/installation.ts'

export const installation = (q: Queries): Promise<InstallationTable> =>
  q.selectFrom('installation').selectAll().executeTakeFirstOrThrow()

export const lockInstallation = (tx: Transaction): Promise<InstallationTable> =>
  tx.selectFrom('installation').selectAll().forUpdate().executeTakeFirstOrThrow()

export const updateInstallation = async (
  tx: Transaction,
  to: Partial<Pick<InstallationTable, 'importing' | 'imported_through' | 'imported_pieces'>>,
): Promise<void> => {
  await tx.updateTable('installation').set(to).execute()
}
