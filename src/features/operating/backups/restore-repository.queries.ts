import type { Queries, Transaction } from '../../../database/database.ts'
import type { RestoredRepositoriesTable } from '../../../database/tables/backups.ts'

export const findRestored = (q: Queries, repository: string): Promise<RestoredRepositoriesTable | undefined> =>
  q.selectFrom('restored_repositories').selectAll().where('repository', '=', repository).executeTakeFirst()

export const noteRestored = async (tx: Transaction, row: RestoredRepositoriesTable): Promise<void> => {
  const { repository: _, ...rest } = row
  await tx
    .insertInto('restored_repositories')
    .values(row)
    .onConflict((conflict) => conflict.column('repository').doUpdateSet(rest))
    .execute()
}

export const noteRestoredWhole = async (tx: Transaction, repository: string, at: string): Promise<void> => {
  await tx.updateTable('restored_repositories').set({ finished_at: at }).where('repository', '=', repository).execute()
}

export const claimStateOf = async (q: Queries, id: string): Promise<string | undefined> =>
  (await q.selectFrom('claims').select('state').where('id', '=', id).executeTakeFirst())?.state

export const isRepository = async (q: Queries, id: string): Promise<boolean> => {
  const found = q.selectFrom('repositories').select('id').where('id', '=', id).where('deleted_at', 'is', null)
  return (await found.executeTakeFirst()) !== undefined
}

/** Lines of its journal begin behind this one. */
export const journalBaseOf = async (q: Queries, id: string): Promise<number> =>
  (await q.selectFrom('repositories').select('journal_base').where('id', '=', id).executeTakeFirstOrThrow())
    .journal_base

export const setJournalHead = async (tx: Transaction, id: string, head: number): Promise<void> => {
  await tx.updateTable('repositories').set({ journal_head: head }).where('id', '=', id).execute()
}
