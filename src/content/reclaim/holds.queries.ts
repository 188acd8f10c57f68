import type { Queries, Transaction } from '../../database/database.ts'
import type { ReclaimHoldsTable } from '../../database/tables/installation.ts'

/** Takes the gate: resolves when no transaction of reclaim that looked for holds is still running. */
export const closeGate = async (tx: Transaction): Promise<void> => {
  await tx.selectFrom('installation').select('id').forUpdate().execute()
}

/** Goes through the gate, any number at a time; whoever closes it meanwhile waits. */
export const passGate = async (tx: Transaction): Promise<void> => {
  await tx.selectFrom('installation').select('id').forShare().execute()
}

export const insertHold = async (tx: Transaction, hold: ReclaimHoldsTable): Promise<void> => {
  await tx.insertInto('reclaim_holds').values(hold).execute()
}

/** False when the hold has lapsed. */
export const renewHold = async (tx: Transaction, id: string, now: string, endsAt: string): Promise<boolean> => {
  const { numUpdatedRows } = await tx
    .updateTable('reclaim_holds')
    .set({ ends_at: endsAt })
    .where('id', '=', id)
    .where('ends_at', '>', now)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export const deleteHold = async (tx: Transaction, id: string): Promise<void> => {
  await tx.deleteFrom('reclaim_holds').where('id', '=', id).execute()
}

export const deleteLapsedHolds = async (tx: Transaction, now: string): Promise<void> => {
  await tx.deleteFrom('reclaim_holds').where('ends_at', '<=', now).execute()
}

export const anyHold = async (q: Queries, now: string): Promise<boolean> =>
  (await q.selectFrom('reclaim_holds').select('id').where('ends_at', '>', now).limit(1).executeTakeFirst()) !==
  undefined
