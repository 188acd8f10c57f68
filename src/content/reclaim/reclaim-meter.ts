import type { BlobName } from '../../ports/blob-name.ts'

/** What reclaim has done since the process started, for its metrics, and what of it is under way. */
export interface ReclaimMeter {
  removed(bytes: number): void
  failed(): void
  /** A run through the whole queue has ended. */
  ran(atMs: number): void
  /** Names whose removal this process has begun and the store has not ended. */
  readonly removing: Set<BlobName>
  readonly seen: {
    readonly blobs: number
    readonly bytes: number
    readonly failures: number
    readonly lastRunMs: number
  }
}

export const createReclaimMeter = (): ReclaimMeter => {
  const seen = { blobs: 0, bytes: 0, failures: 0, lastRunMs: 0 }
  return {
    removed(bytes) {
      seen.blobs += 1
      seen.bytes += bytes
    },
    failed() {
      seen.failures += 1
    },
    ran(atMs) {
      seen.lastRunMs = atMs
    },
    removing: new Set(),
    seen,
  }
}
