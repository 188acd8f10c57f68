import type { Queries, Transaction } from '../../../database/database.ts'
import type { UsageSamplesTable } from '../../../database/tables/samples.ts'

/** Repositories by id, with what they hold now and what was last sampled of them. */
export const repositoriesWithLast = (q: Queries, after: string, limit: number) =>
  q
    .selectFrom('repositories')
    .select((eb) => [
      'id',
      'published_bytes',
      'pending_bytes',
      'retired_bytes',
      'quota_bytes',
      eb
        .selectFrom('usage_samples')
        .select((last) => last.fn.max('taken_at').as('taken_at'))
        .whereRef('usage_samples.repository', '=', 'repositories.id')
        .as('last_at'),
    ])
    .where('deleted_at', 'is', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()

export const samplesAt = (q: Queries, moments: readonly { readonly repository: string; readonly takenAt: string }[]) =>
  q
    .selectFrom('usage_samples')
    .selectAll()
    .where((eb) =>
      eb.or(
        moments.map(({ repository, takenAt }) =>
          eb.and([eb('repository', '=', repository), eb('taken_at', '=', takenAt)]),
        ),
      ),
    )
    .execute()

/** Another process may have been first. */
export const insertSamples = async (tx: Transaction, rows: readonly UsageSamplesTable[]): Promise<void> => {
  await tx
    .insertInto('usage_samples')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['repository', 'taken_at']).doNothing())
    .execute()
}

/** What was sampled in a time, oldest first, and the last before it, which held on. */
export const samplesFrom = async (
  q: Queries,
  repository: string,
  from: string,
  limit: number,
): Promise<UsageSamplesTable[]> => {
  const of = q.selectFrom('usage_samples').selectAll().where('repository', '=', repository)
  const before = await of.where('taken_at', '<', from).orderBy('taken_at', 'desc').limit(1).execute()
  const within = await of.where('taken_at', '>=', from).orderBy('taken_at').limit(limit).execute()
  return [...before, ...within]
}

/** Removes some of those that are too old. How many they were. */
export const forgetSamples = async (tx: Transaction, before: string, limit: number): Promise<number> => {
  const old = await tx
    .selectFrom('usage_samples')
    .select(['repository', 'taken_at'])
    .where('taken_at', '<', before)
    .orderBy('taken_at')
    .limit(limit)
    .execute()
  const last = old.at(-1)
  if (last === undefined) return 0
  await tx.deleteFrom('usage_samples').where('taken_at', '<=', last.taken_at).execute()
  return old.length
}
