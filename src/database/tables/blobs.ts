import type { Generated } from 'kysely'

/**
 * The truth about stored bytes.
 *
 * - `expected`: somebody is about to store them; whether they are there is not known
 * - `stored`: they are there and durable (I1)
 *
 * A row goes when nobody claims its bytes any more; what is then left of them is a removal (I2).
 */
export interface BlobsTable {
  sha256: string
  size: number
  state: 'expected' | 'stored'
  stored_at: string | null
  /**
   * Makes the name of the bytes in the store one that is never used twice: every row has its own. Empty in rows from
   * before there were generations.
   */
  generation: string
  /** 1 where the bytes lie in {@link InlineBytesTable}, 0 where they lie in the store under their name. */
  inline: Generated<0 | 1>
}

/**
 * The bytes of small blobs that are stored in the database: those whose row says so, and no others. They come and go in
 * the transactions that say so.
 */
export interface InlineBytesTable {
  /** Of the blob's row. */
  generation: string
  sha256: string
  bytes: Uint8Array
}

/** How many of them there are: what the last look through all blobs counted. One row, after the first look. */
export interface InlineSumsTable {
  id: number
  files: number
  bytes: number
}

/** Digests that lost a claim: the queue of reclaim. */
export interface ReclaimCandidatesTable {
  sha256: string
  since: string
}

/** What is to be told in which journal when the bytes of a digest go: of those who were the last to hold them. */
export interface ReclaimNotesTable {
  sha256: string
  repository: string
  /** What the line will name, in the column of the journal that has this name. */
  artifact_id: string
}

/** Bytes that no row refers to and nobody can come to refer to, until they are gone from the store (I2). */
export interface RemovalsTable {
  /** What they are called there: digest and generation. */
  name: string
  size: number
  begun_at: string
  /** Tries that were begun. */
  tries: number
  /** When the next one may begin, unless the last one has ended well by then. */
  due_at: string
}

/** What is to be told when a removal is done. */
export interface RemovalNotesTable {
  name: string
  repository: string
  artifact_id: string
}
