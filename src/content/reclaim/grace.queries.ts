import type { Queries } from '../../database/database.ts'

/**
 * Repositories after an id, in order, each with its grace period and when the oldest of its retired claims was retired:
 * one look into an index for each, however many claims wait in it.
 */
export const oldestRetired = (q: Queries, after: string, limit: number) =>
  q
    .selectFrom('repositories')
    .select((eb) => [
      'repositories.id',
      'repositories.grace_hours',
      eb
        .selectFrom('claims')
        .select('claims.retired_at')
        .whereRef('claims.repository', '=', 'repositories.id')
        .where('claims.retired_at', 'is not', null)
        .orderBy('claims.retired_at')
        .limit(1)
        .as('oldest'),
    ])
    .where('repositories.id', '>', after)
    .orderBy('repositories.id')
    .limit(limit)
    .execute()

/** Claims of a repository that were retired until a moment, the oldest first. */
export const retiredUntil = async (q: Queries, repository: string, until: string, limit: number): Promise<string[]> => {
  const rows = await q
    .selectFrom('claims')
    .select('id')
    .where('repository', '=', repository)
    .where('retired_at', '<=', until)
    .orderBy('retired_at')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
