import type { AliasedExpression, ExpressionBuilder } from 'kysely'
import type { Queries } from '../../database/database.ts'
import type { Tables } from '../../database/tables/index.ts'

/**
 * Repositories after an id, in order, each with its grace period and the oldest of something that it has: one look into
 * an index for each, however much there is.
 */
export const withOldest = (
  q: Queries,
  after: string,
  limit: number,
  oldest: (eb: ExpressionBuilder<Tables, 'repositories'>) => AliasedExpression<string | null, 'oldest'>,
) =>
  q
    .selectFrom('repositories')
    .select((eb) => ['repositories.id', 'repositories.grace_hours', oldest(eb)])
    .where('repositories.id', '>', after)
    .orderBy('repositories.id')
    .limit(limit)
    .execute()

/** The oldest: when the claim that was retired first was. */
export const oldestRetired = (q: Queries, after: string, limit: number) =>
  withOldest(q, after, limit, (eb) =>
    eb
      .selectFrom('claims')
      .select('claims.retired_at')
      .whereRef('claims.repository', '=', 'repositories.id')
      .where('claims.retired_at', 'is not', null)
      .orderBy('claims.retired_at')
      .limit(1)
      .$asScalar()
      .as('oldest'),
  )

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
