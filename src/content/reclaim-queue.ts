import type { Transaction } from '../database/database.ts'
import type { Sha256 } from '../kernel/digest.ts'
import { insertCandidate } from './claims.queries.ts'
import { announce } from './claims.ts'
import { insertNote, setMark } from './reclaim.queries.ts'

/** Lets reclaim look at bytes that have their final name although nobody may be holding them. */
export const queueBytes = async (tx: Transaction, digest: Sha256, bytes: number, now: string): Promise<void> => {
  await announce(tx, digest, bytes)
  await insertCandidate(tx, digest, now)
}

/** Lets reclaim look at a blob that has a row and lost its place in the queue. */
export const queueForgotten = (tx: Transaction, digest: string, now: string): Promise<void> =>
  insertCandidate(tx, digest, now)

/** Says anew when the removal of a digest began: earlier, so that another may go on with it. */
export const resetMark = (tx: Transaction, digest: string, since: string): Promise<void> => setMark(tx, digest, since)

/** When the bytes of this digest go, the journal of the repository tells so of this file. */
export const noteHolder = (tx: Transaction, digest: string, repository: string, artifactId: string): Promise<void> =>
  insertNote(tx, { sha256: digest, repository, artifact_id: artifactId })
