import type { Database } from '../database/database.ts'
import { toSha256 } from '../kernel/digest.ts'
import { upkeepBatch } from '../kernel/limits.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import { deleteBlob, deleteCandidate, isClaimed, lockBlob, markReclaiming, nextCandidates } from './reclaim.queries.ts'

/**
 * Removes bytes that nobody claims any more, online.
 *
 * Order: mark the blob in a transaction that saw no claim (holding the lock that announcing takes too) -> remove the
 * bytes -> remove the row (I2). A crash leaves a marked blob and its place in the queue, and the next run repeats what is
 * left. Whoever wants to store the same bytes meanwhile waits until the row is gone.
 *
 * Returns how many blobs went; call again while it returns a full batch.
 */
export const reclaim = async (parts: { database: Database; store: BlobStore }): Promise<number> => {
  const { database, store } = parts
  const candidates = await nextCandidates(database.reader, upkeepBatch)
  let removed = 0
  for (const digest of candidates) {
    const marked = await database.transaction(async (tx) => {
      const blob = await lockBlob(tx, digest)
      if (blob === undefined || (await isClaimed(tx, digest))) {
        await deleteCandidate(tx, digest)
        return false
      }
      await markReclaiming(tx, digest)
      return true
    })
    if (!marked) continue
    await store.delete(toSha256(digest))
    await database.transaction(async (tx) => {
      await deleteBlob(tx, digest)
      await deleteCandidate(tx, digest)
    })
    removed += 1
  }
  return removed
}
