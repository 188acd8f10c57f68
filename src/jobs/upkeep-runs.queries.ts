import type { Queries, Transaction } from '../database/database.ts'

export const noteRun = async (tx: Transaction, name: string, now: string): Promise<void> => {
  await tx
    .insertInto('upkeep_runs')
    .values({ name, succeeded_at: now })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ succeeded_at: now }))
    .execute()
}

/** When this part of the upkeep last went well. */
export const lastRun = async (q: Queries, name: string): Promise<string | undefined> =>
  (await q.selectFrom('upkeep_runs').select('succeeded_at').where('name', '=', name).executeTakeFirst())?.succeeded_at
