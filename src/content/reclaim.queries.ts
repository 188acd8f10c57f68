import type { Queries, Transaction } from '../database/database.ts'
import type { BlobsTable, ReclaimNotesTable } from '../database/tables/blobs.ts'

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

/** The same of those that are marked. */
export const nextMarked = async (q: Queries, after: string, limit: number): Promise<string[]> =>
  (
    await q
      .selectFrom('reclaim_candidates')
      .innerJoin('blobs', 'blobs.sha256', 'reclaim_candidates.sha256')
      .select('reclaim_candidates.sha256')
      .where('reclaim_candidates.sha256', '>', after)
      .where('blobs.state', '=', 'reclaiming')
      .orderBy('reclaim_candidates.sha256')
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

export const lockBlob = (tx: Transaction, digest: string): Promise<Pick<BlobsTable, 'state' | 'size'> | undefined> =>
  tx.selectFrom('blobs').select(['state', 'size']).where('sha256', '=', digest).forUpdate().executeTakeFirst()

export const isClaimed = async (tx: Transaction, digest: string): Promise<boolean> =>
  (await tx.selectFrom('claims').select('id').where('sha256', '=', digest).limit(1).executeTakeFirst()) !== undefined

/** Whether the digest was queued, or its mark set, after that moment. */
export const isYounger = async (tx: Transaction, digest: string, than: string): Promise<boolean> =>
  (await tx
    .selectFrom('reclaim_candidates')
    .select('sha256')
    .where('sha256', '=', digest)
    .where('since', '>', than)
    .executeTakeFirst()) !== undefined

export const markReclaiming = async (tx: Transaction, digest: string, now: string): Promise<void> => {
  await tx.updateTable('blobs').set({ state: 'reclaiming' }).where('sha256', '=', digest).execute()
  await tx
    .insertInto('reclaim_candidates')
    .values({ sha256: digest, since: now })
    .onConflict((conflict) => conflict.column('sha256').doUpdateSet({ since: now }))
    .execute()
}

export const deleteBlob = async (tx: Transaction, digest: string): Promise<void> => {
  await tx.deleteFrom('blobs').where('sha256', '=', digest).execute()
}

/** Takes a digest from the queue, with what was to be told of it. */
export const deleteCandidate = async (tx: Transaction, digest: string): Promise<void> => {
  await tx.deleteFrom('reclaim_candidates').where('sha256', '=', digest).execute()
  await deleteNotes(tx, digest)
}

/** Takes a digest from the queue if this mark is still the one that stands. */
export const deleteMarked = async (tx: Transaction, digest: string, mark: string): Promise<boolean> => {
  const { numDeletedRows } = await tx
    .deleteFrom('reclaim_candidates')
    .where('sha256', '=', digest)
    .where('since', '=', mark)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

export const setMark = async (tx: Transaction, digest: string, since: string): Promise<void> => {
  await tx.updateTable('reclaim_candidates').set({ since }).where('sha256', '=', digest).execute()
}

export const insertNote = async (tx: Transaction, note: ReclaimNotesTable): Promise<void> => {
  await tx
    .insertInto('reclaim_notes')
    .values(note)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** What is to be told of these digests, in the order in which repositories are locked. */
export const notesOf = (tx: Transaction, digests: readonly string[]): Promise<ReclaimNotesTable[]> =>
  tx
    .selectFrom('reclaim_notes')
    .selectAll()
    .where('sha256', 'in', digests)
    .orderBy('repository')
    .orderBy('sha256')
    .orderBy('artifact_id')
    .execute()

export const deleteNotes = async (tx: Transaction, digest: string): Promise<void> => {
  await tx.deleteFrom('reclaim_notes').where('sha256', '=', digest).execute()
}
