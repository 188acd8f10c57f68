import type { Transaction } from './database.ts'

/**
 * The locks that several slices take, in one place because of their order, which is the same everywhere: account, key,
 * claim, repository, server, blob; several of one kind in the order of their ids. On SQLite transactions that write
 * come one after the other, and nothing is locked here.
 */

/**
 * Takes the lock under which everything in a repository changes that something else there depends on: paths,
 * references, attachments, stages, versions, the policy. Whether there is such a repository; of a deleted one the lock
 * is taken, too.
 */
export const lockRepository = async (tx: Transaction, id: string): Promise<boolean> =>
  (await lockRepositories(tx, [id])).has(id)

/** The same of several. Those that are there. */
export const lockRepositories = async (tx: Transaction, ids: readonly string[]): Promise<ReadonlySet<string>> => {
  const rows = await tx
    .selectFrom('repositories')
    .select(['id', 'deleted_at'])
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute()
  return new Set(rows.filter(({ deleted_at }) => deleted_at === null).map(({ id }) => id))
}
