import type { Queries, Transaction } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import { addToHistory, type RevisionRow } from './assets.queries.ts'

interface At {
  readonly repository: string
  readonly path: string
}

const removedRow = prepareQuery((q, p: Parameters<At>) =>
  q
    .selectFrom('removed_paths')
    .select(['revision', 'oldest', 'removed_at'])
    .where('repository', '=', p('repository'))
    .where('path', '=', p('path')),
)

/** A path that shows nothing any more; undefined for one that does, or never did. */
export const findRemovedRow = async (q: Queries, repository: string, path: string) =>
  (await removedRow(q, { repository, path }))[0]

/** Paths that show nothing any more, from one of them on, in the order of their bytes, below `end` if there is one. */
export const removedRows = (
  q: Queries,
  repository: string,
  { from, inclusive, end }: { from: string; inclusive: boolean; end: string | null },
  limit: number,
) => {
  const rows = q
    .selectFrom('removed_paths')
    .select(['path', 'revision', 'oldest', 'removed_at'])
    .where('repository', '=', repository)
    .where('path', inclusive ? '>=' : '>', from)
    .orderBy('path')
    .limit(limit)
  return (end === null ? rows : rows.where('path', '<', end)).execute()
}

/** Takes away what a path shows, by a revision that says so. */
export const insertRemoval = async (tx: Transaction, row: RevisionRow): Promise<void> => {
  const { repository, path, revision, created_at: removed_at } = row
  await addToHistory(tx, row)
  const { oldest } = await tx
    .deleteFrom('assets')
    .where('repository', '=', repository)
    .where('path', '=', path)
    .returning('oldest')
    .executeTakeFirstOrThrow()
  await tx.insertInto('removed_paths').values({ repository, path, revision, oldest, removed_at }).execute()
}

/** The path is about to show something again. */
export const deleteRemovedRow = async (tx: Transaction, { repository, path }: At): Promise<void> => {
  await tx.deleteFrom('removed_paths').where('repository', '=', repository).where('path', '=', path).execute()
}
