import type { Queries, Transaction } from '../../../database/database.ts'
import type { LfsLocksTable } from '../../../database/tables/lfs.ts'

export const findLock = (q: Queries, repository: string, id: string): Promise<LfsLocksTable | undefined> =>
  q.selectFrom('lfs_locks').selectAll().where('id', '=', id).where('repository', '=', repository).executeTakeFirst()

export const lockAt = (q: Queries, repository: string, digest: string): Promise<LfsLocksTable | undefined> =>
  q
    .selectFrom('lfs_locks')
    .selectAll()
    .where('repository', '=', repository)
    .where('digest', '=', digest)
    .executeTakeFirst()

/** Locks below an address that are older than one, the newest first. */
export const lockRows = (
  q: Queries,
  { repository, subPath }: { readonly repository: string; readonly subPath: string },
  before: string | null,
  limit: number,
): Promise<LfsLocksTable[]> => {
  const rows = q
    .selectFrom('lfs_locks')
    .selectAll()
    .where('repository', '=', repository)
    .where('sub_path', '=', subPath)
    .orderBy('id', 'desc')
    .limit(limit)
  return (before === null ? rows : rows.where('id', '<', before)).execute()
}

/** How many there are in a repository, counted up to a bound. */
export const countLocks = async (q: Queries, repository: string, bound: number): Promise<number> =>
  (await q.selectFrom('lfs_locks').select('id').where('repository', '=', repository).limit(bound).execute()).length

export const insertLock = async (tx: Transaction, row: LfsLocksTable): Promise<void> => {
  await tx.insertInto('lfs_locks').values(row).execute()
}

export const deleteLock = async (tx: Transaction, id: string): Promise<void> => {
  await tx.deleteFrom('lfs_locks').where('id', '=', id).execute()
}
