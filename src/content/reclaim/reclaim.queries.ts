import type { Queries, Transaction } from '../../database/database.ts'
import type { ReclaimNotesTable } from '../../database/tables/blobs.ts'

/** Queued digests behind one, in order. */
export const nextCandidates = async (q: Queries, after: string, limit: number): Promise<string[]> =>
  (
    await q
      .selectFrom('reclaim_candidates')
      .select('sha256')
      .where('sha256', '>', after)
      .orderBy('sha256')
      .limit(limit)
      .execute()
  ).map((row) => row.sha256)

/** How many digests are queued, counted up to a bound. */
export const queueLength = async (q: Queries, bound: number): Promise<number> =>
  Number(
    (
      await q
        .selectFrom(q.selectFrom('reclaim_candidates').select('sha256').limit(bound).as('queued'))
        .select((eb) => eb.fn.countAll().as('n'))
        .executeTakeFirstOrThrow()
    ).n,
  )

export const isClaimed = async (tx: Transaction, digest: string): Promise<boolean> =>
  (await tx.selectFrom('claims').select('id').where('sha256', '=', digest).limit(1).executeTakeFirst()) !== undefined

export const deleteBlob = async (tx: Transaction, digest: string): Promise<void> => {
  await tx.deleteFrom('blobs').where('sha256', '=', digest).execute()
}

/** Takes a digest from the queue, with what was to be told of it. */
export const deleteCandidate = async (tx: Transaction, digest: string): Promise<void> => {
  await tx.deleteFrom('reclaim_candidates').where('sha256', '=', digest).execute()
  await tx.deleteFrom('reclaim_notes').where('sha256', '=', digest).execute()
}

export const insertNote = async (tx: Transaction, note: ReclaimNotesTable): Promise<void> => {
  await tx
    .insertInto('reclaim_notes')
    .values(note)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
