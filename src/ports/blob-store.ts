import type { Sha256 } from '../kernel/digest.ts'
import type { ByteRange } from '../kernel/range.ts'

/**
 * Where bytes live, named by their SHA-256. The port is dumb: it stores, and trusts the digest that it is told. Hashing,
 * verifying and deciding are the business of `content/`, its only caller: everything else goes through
 * `content/ingest.ts` and `content/serve.ts`.
 *
 * Every method may throw {@link BlobStoreUnavailable} (come back later) or {@link BlobStoreFull} (nothing is wrong but
 * space). Anything else that is thrown is a bug or a broken disk.
 */
export interface BlobStore {
  /**
   * Opens a private place to write to. Nothing that is written there can be read under any digest before `publish`.
   * The id names the place: after a crash {@link listStaged} shows it and {@link discardStaged} removes it.
   */
  stage(id: string): Promise<StagedBlob>

  /**
   * The stored bytes of a range, in pieces of at most `limits.readAheadBytes`, read ahead of the consumer by one piece.
   * A piece is valid only until the next one is asked for: its memory is then used again.
   * Opening happens before the promise resolves, so that a missing blob is known before anything is sent.
   * Whoever ends the iteration early must call `return()` (as `for await` does), which closes what is open.
   * Throws {@link BlobMissing} where no such blob is stored.
   */
  open(digest: Sha256, range: ByteRange): Promise<AsyncIterableIterator<Uint8Array>>

  /** Bytes of the stored blob, or null. */
  size(digest: Sha256): Promise<number | null>

  /** Removes a blob for good. True if it was there. */
  delete(digest: Sha256): Promise<boolean>

  /** Every stored blob, in no promised order, without keeping them all in memory. */
  list(): AsyncIterable<StoredBlob>

  /** Every place opened by {@link stage} and neither published nor discarded, also those of processes long dead. */
  listStaged(): AsyncIterable<StagedRemains>

  /** Removes a staged place. Harmless when it is gone. */
  discardStaged(id: string): Promise<void>

  /** Room on the device, or null where the store has no such notion. */
  space(): Promise<Space | null>

  /** Resolves when the store answers; throws {@link BlobStoreUnavailable} when it does not. Cheap enough for a readiness probe. */
  probe(): Promise<void>
}

/** One place being written. Used by one caller at a time, in order: writes, then publish or discard. */
export interface StagedBlob {
  /** Appends. Resolves when the piece may be reused and the store can take more (backpressure). */
  write(piece: Uint8Array): Promise<void>
  /**
   * Makes the bytes durable and gives them their final name. When it resolves they survive a power cut (I3).
   * A blob that is there already is replaced by these same bytes in one step: readers never notice.
   */
  publish(digest: Sha256): Promise<void>
  /** Gives the place back. Harmless after publish. */
  discard(): Promise<void>
}

export interface StoredBlob {
  readonly digest: Sha256
  readonly bytes: number
}

export interface StagedRemains {
  readonly id: string
  readonly bytes: number
  readonly modifiedAtMs: number
}

export interface Space {
  readonly freeBytes: number
  readonly totalBytes: number
}

/** The store does not hold the blob that was asked for. */
export class BlobMissing extends Error {
  override readonly name = 'BlobMissing'
}

/** The store does not answer, or answers that it cannot now. */
export class BlobStoreUnavailable extends Error {
  override readonly name = 'BlobStoreUnavailable'
}

/** The store has no room left. */
export class BlobStoreFull extends Error {
  override readonly name = 'BlobStoreFull'
}
