import type { Queries, Transaction } from '../../../database/database.ts'
import type { HealedBlobsTable } from '../../../database/tables/backups.ts'

/** Notes what was brought back, and forgets what was before a moment. */
export const noteHealed = async (tx: Transaction, row: HealedBlobsTable, before: string): Promise<void> => {
  await tx.deleteFrom('healed_blobs').where('healed_at', '<', before).execute()
  await tx
    .insertInto('healed_blobs')
    .values(row)
    .onConflict((conflict) => conflict.columns(['sha256', 'healed_at']).doNothing())
    .execute()
}

/** How many were brought back since a moment. */
export const healedSince = async (q: Queries, since: string): Promise<number> =>
  Number(
    (
      await q
        .selectFrom('healed_blobs')
        .select((eb) => eb.fn.countAll().as('n'))
        .where('healed_at', '>=', since)
        .executeTakeFirstOrThrow()
    ).n,
  )
