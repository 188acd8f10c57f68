import type { Queries, Transaction } from '../../../database/database.ts'
import type { RepositoriesTable } from '../../../database/tables/repositories.ts'

type Space = Pick<
  RepositoriesTable,
  | 'published_bytes'
  | 'pending_bytes'
  | 'retired_bytes'
  | 'quota_bytes'
  | 'warning_percent'
  | 'critical_percent'
  | 'grace_hours'
  | 'cleanup_revision'
>

export const findSpace = (q: Queries, repository: string): Promise<Space | undefined> =>
  q
    .selectFrom('repositories')
    .select(['published_bytes', 'pending_bytes', 'retired_bytes', 'quota_bytes', 'grace_hours', 'cleanup_revision'])
    .select(['warning_percent', 'critical_percent'])
    .where('id', '=', repository)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()

/** When the first of what was retired in a repository was retired, or null. */
export const firstRetiredAt = async (q: Queries, repository: string): Promise<string | null> => {
  const row = await q
    .selectFrom('claims')
    .select('retired_at')
    .where('repository', '=', repository)
    .where('retired_at', 'is not', null)
    .orderBy('retired_at')
    .limit(1)
    .executeTakeFirst()
  return row?.retired_at ?? null
}

/** Sets the grace period if the revision is still that one. */
export const replaceGrace = async (
  tx: Transaction,
  repository: string,
  expectedRevision: number,
  graceHours: number | null,
): Promise<boolean> => {
  const { numUpdatedRows } = await tx
    .updateTable('repositories')
    .set({ grace_hours: graceHours, cleanup_revision: expectedRevision + 1 })
    .where('id', '=', repository)
    .where('deleted_at', 'is', null)
    .where('cleanup_revision', '=', expectedRevision)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
