import type { Queries, Transaction } from '../../../database/database.ts'

/** Where the history of a path begins, and whether it shows something; undefined where it has none. */
export const findHistory = async (q: Queries, repository: string, path: string) => {
  const of = (table: 'assets' | 'removed_paths') =>
    q
      .selectFrom(table)
      .select(['revision', 'oldest'])
      .where('repository', '=', repository)
      .where('path', '=', path)
      .executeTakeFirst()
  const shown = await of('assets')
  if (shown !== undefined) return { ...shown, table: 'assets' } as const
  const removed = await of('removed_paths')
  return removed === undefined ? undefined : ({ ...removed, table: 'removed_paths' } as const)
}

/**
 * Deletes revisions of a path up to one of them. Answers the files that they were of, each as often as it was there.
 */
export const deleteRevisions = async (
  tx: Transaction,
  { table, repository, path }: { table: 'assets' | 'removed_paths'; repository: string; path: string },
  through: number,
): Promise<string[]> => {
  const rows = await tx
    .deleteFrom('asset_revisions')
    .where('repository', '=', repository)
    .where('path', '=', path)
    .where('revision', '<=', through)
    .returning('artifact_id')
    .execute()
  await tx
    .updateTable(table)
    .set({ oldest: through + 1 })
    .where('repository', '=', repository)
    .where('path', '=', path)
    .execute()
  return rows.map(({ artifact_id }) => artifact_id)
}
