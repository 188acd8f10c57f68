import type { Queries, Transaction } from '../../database/database.ts'
import { type Parameters, prepareQuery } from '../../database/prepared.ts'
import type { LfsObjectsTable } from '../../database/tables/lfs.ts'
import { deletedOfObjectMax } from '../../kernel/limits/lfs.ts'

const here = prepareQuery((q, p: Parameters<{ repository: string; sha256: string }>) =>
  q
    .selectFrom('lfs_objects')
    .selectAll()
    .where('repository', '=', p('repository'))
    .where('sha256', '=', p('sha256'))
    .where('deleted_at', 'is', null),
)

/** The object of a repository that is there for clients. */
export const findObject = async (
  q: Queries,
  repository: string,
  sha256: string,
): Promise<LfsObjectsTable | undefined> => (await here(q, { repository, sha256 }))[0]

/** Those of some objects that are there. */
export const objectsAmong = (q: Queries, repository: string, sha256s: readonly string[]) =>
  q
    .selectFrom('lfs_objects')
    .select(['id', 'sha256', 'size', 'used_at'])
    .where('repository', '=', repository)
    .where('sha256', 'in', sha256s)
    .where('deleted_at', 'is', null)
    .execute()

export const insertObject = prepareQuery((q, p: Parameters<Omit<LfsObjectsTable, 'deleted_at'>>) =>
  q.insertInto('lfs_objects').values({
    id: p('id'),
    repository: p('repository'),
    sha256: p('sha256'),
    size: p('size'),
    pushed_at: p('pushed_at'),
    actor: p('actor'),
    used_at: p('used_at'),
  }),
)

/** Somebody asked for these. */
export const setUsed = async (tx: Transaction, ids: readonly string[], now: string): Promise<void> => {
  await tx.updateTable('lfs_objects').set({ used_at: now }).where('id', 'in', ids).where('used_at', '<', now).execute()
}

/** What a repository reserves, and may. */
export const roomOf = (q: Queries, repository: string) =>
  q
    .selectFrom('repositories')
    .select(['quota_bytes', 'published_bytes', 'pending_bytes', 'retired_bytes'])
    .where('id', '=', repository)
    .executeTakeFirst()

/** What all repositories together reserve. */
export const reservedBytes = async (q: Queries): Promise<number> =>
  (await q.selectFrom('counters').select('value').where('name', '=', 'reserved_bytes').executeTakeFirst())?.value ?? 0

/** Deleted ones of these bytes that may still be brought back, the last one first. */
export const deletedObjects = (q: Queries, repository: string, sha256: string): Promise<LfsObjectsTable[]> =>
  q
    .selectFrom('lfs_objects')
    .selectAll()
    .where('repository', '=', repository)
    .where('deleted_at', 'is not', null)
    .where('sha256', '=', sha256)
    .orderBy('deleted_at', 'desc')
    .limit(deletedOfObjectMax)
    .execute()

export const setDeleted = async (tx: Transaction, id: string, deletedAt: string | null): Promise<void> => {
  await tx.updateTable('lfs_objects').set({ deleted_at: deletedAt }).where('id', '=', id).execute()
}
