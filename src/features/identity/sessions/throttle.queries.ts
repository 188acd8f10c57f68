import { sql } from 'kysely'
import type { Queries, Transaction } from '../../../database/database.ts'

export const findThrottles = (q: Queries, keys: string[]) =>
  q
    .selectFrom('throttles')
    .select(['key', 'failures', 'last_failure_at', 'blocked_until'])
    .where('key', 'in', keys)
    .execute()

/** Counts one more failure; starts from one when the last is older than `forgottenBefore`. Returns the count. */
export const countFailure = async (
  tx: Transaction,
  key: string,
  now: string,
  forgottenBefore: string,
): Promise<number> => {
  const row = await tx
    .insertInto('throttles')
    .values({ key, failures: 1, last_failure_at: now, blocked_until: null })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({
        failures: sql<number>`case when throttles.last_failure_at < ${forgottenBefore} then 1 else throttles.failures + 1 end`,
        last_failure_at: now,
      }),
    )
    .returning('failures')
    .executeTakeFirstOrThrow()
  return row.failures
}

export const setBlocked = async (tx: Transaction, key: string, until: string): Promise<void> => {
  await tx.updateTable('throttles').set({ blocked_until: until }).where('key', '=', key).execute()
}

/** Notes that an account signed in from a network; forgotten as wrong tries are. */
export const rememberOrigin = async (tx: Transaction, key: string, now: string): Promise<void> => {
  await tx
    .insertInto('throttles')
    .values({ key, failures: 0, last_failure_at: now, blocked_until: null })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ last_failure_at: now }))
    .execute()
}

export const clearThrottle = async (tx: Transaction, key: string): Promise<void> => {
  await tx.deleteFrom('throttles').where('key', '=', key).execute()
}

export const deleteForgottenThrottles = async (tx: Transaction, before: string, limit: number): Promise<number> => {
  const old = tx.selectFrom('throttles').select('key').where('last_failure_at', '<', before).limit(limit)
  const result = await tx.deleteFrom('throttles').where('key', 'in', old).executeTakeFirst()
  return Number(result.numDeletedRows)
}
