/**
 * The truth about stored bytes.
 *
 * - `expected`: somebody is about to store them; whether they are there is not known
 * - `stored`: they are there and durable (I1)
 * - `reclaiming`: nobody claims them and their bytes are being removed (I2); who wants them back waits
 */
export interface BlobsTable {
  sha256: string
  size: number
  state: 'expected' | 'stored' | 'reclaiming'
  stored_at: string | null
}

/** Digests that lost a claim: the queue of reclaim. */
export interface ReclaimCandidatesTable {
  sha256: string
  since: string
}

/** What is to be told in which journal when the bytes of a digest go: the files that were the last to hold them. */
export interface ReclaimNotesTable {
  sha256: string
  repository: string
  artifact_id: string
}
