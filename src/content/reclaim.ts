import type { Database } from '../database/database.ts'
import { type Clock, timestamp } from '../kernel/clock.ts'
import { toSha256 } from '../kernel/digest.ts'
import { reclaimLeaseMs, upkeepBatch } from '../kernel/limits.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import {
  deleteBlob,
  deleteCandidate,
  deleteMarked,
  isClaimed,
  isYounger,
  lockBlob,
  markReclaiming,
  nextCandidates,
} from './reclaim.queries.ts'

export interface ReclaimParts {
  readonly database: Database
  readonly store: BlobStore
  readonly clock: Clock
}

/**
 * Removes bytes that nobody claims any more, online.
 *
 * Order: mark the blob in a transaction that saw no claim (holding the lock that announcing takes too) -> remove the
 * bytes -> remove the row (I2). A crash leaves a marked blob and its place in the queue, and the next run repeats what is
 * left. Whoever wants to store the same bytes meanwhile waits until the row is gone.
 *
 * Several processes may run this at once. The mark is a lease: until it lapses only its holder goes on, and a holder that
 * was held up for half of it leaves the bytes alone; the row goes with the mark of whoever set it last. Otherwise the
 * second to remove them could meet a later upload.
 *
 * Returns how many blobs went; call again while it returns a full batch.
 */
export const reclaim = async (parts: ReclaimParts): Promise<number> => {
  const { database, store, clock } = parts
  const candidates = await nextCandidates(database.reader, upkeepBatch)
  let removed = 0
  for (const digest of candidates) {
    const begunAt = performance.now()
    const mark = await database.transaction(async (tx) => {
      const blob = await lockBlob(tx, digest)
      if (blob === undefined || (await isClaimed(tx, digest))) {
        await deleteCandidate(tx, digest)
        return null
      }
      const nowMs = clock.now()
      const leased = blob.state === 'reclaiming' && (await isYounger(tx, digest, timestamp(nowMs - reclaimLeaseMs)))
      if (leased) return null
      await markReclaiming(tx, digest, timestamp(nowMs))
      return timestamp(nowMs)
    })
    if (mark === null || performance.now() - begunAt > reclaimLeaseMs / 2) continue
    await store.delete(toSha256(digest))
    await database.transaction(async (tx) => {
      await lockBlob(tx, digest)
      // Whose mark it is decides, however long the removal took: another may be about to remove them once more.
      if (await deleteMarked(tx, digest, mark)) await deleteBlob(tx, digest)
    })
    removed += 1
  }
  return removed
}
