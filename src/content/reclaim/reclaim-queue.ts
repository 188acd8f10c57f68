import type { Transaction } from '../../database/database.ts'
import { type BlobName, digestOfName, generationOf } from '../../ports/blob-name.ts'
import { insertCandidate, lockBlob } from '../claims/claims.queries.ts'
import { insertNote } from './reclaim.queries.ts'
import { insertRemoval } from './removal.queries.ts'

/**
 * Bytes have their final name although nobody may be holding them. Where a row still calls them that, reclaim looks whether
 * it is claimed; where none does, none ever will, and they can only be removed.
 */
export const giveUpBytes = async (tx: Transaction, name: BlobName, bytes: number, now: string): Promise<void> => {
  const digest = digestOfName(name)
  const row = await lockBlob(tx, digest)
  if (row?.generation === generationOf(name)) await insertCandidate(tx, digest, now)
  else await insertRemoval(tx, { name, size: bytes, begun_at: now, tries: 0, due_at: now })
}

/** Lets reclaim look at a blob that has a row and lost its place in the queue. */
export const queueForgotten = (tx: Transaction, digest: string, now: string): Promise<void> =>
  insertCandidate(tx, digest, now)

/** A line to come in the journal of a repository, and what it will be about. */
interface Note {
  readonly repository: string
  /** What the line names, whatever kind of thing it is. */
  readonly subject: string
}

/** When the bytes of this digest go, the journal of the repository tells so. */
export const tellWhenGone = (tx: Transaction, digest: string, { repository, subject }: Note): Promise<void> =>
  insertNote(tx, { sha256: digest, repository, artifact_id: subject })
