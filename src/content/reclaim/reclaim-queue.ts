import type { Transaction } from '../../database/database.ts'
import { insertCandidate } from '../claims/claims.queries.ts'
import { insertNote } from './reclaim.queries.ts'

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
