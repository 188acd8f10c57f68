import type { Transaction } from '../../database/database.ts'
import { type BlobName, digestOfName, generationOf } from '../../ports/blob-name.ts'
import { insertCandidate, insertRemoval, lockBlob } from './claims.queries.ts'

/**
 * Bytes have their final name although nobody may be holding them. Where a row still calls them that, reclaim looks
 * whether it is claimed; where none does, none ever will, and they can only be removed.
 */
export const giveUpBytes = async (tx: Transaction, name: BlobName, bytes: number, now: string): Promise<void> => {
  const digest = digestOfName(name)
  const row = await lockBlob(tx, digest)
  if (row?.generation === generationOf(name)) await insertCandidate(tx, digest, now)
  else await insertRemoval(tx, { name, size: bytes, begun_at: now, tries: 0, due_at: now })
}
