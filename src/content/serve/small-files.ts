import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Sha256 } from '../../kernel/digest.ts'
import { smallFilesBytesMax } from '../../kernel/limits/downloads.ts'

/**
 * Small files that were sent lately, in memory: sending one again costs no turn of the thread pool, and no request
 * where the store is across a network (measured with 4 KiB on a directory: a third of the event loop's time). What a
 * digest names never changes, so it is right for as long as it is kept. Who may have it, and whether it is still there,
 * the catalog decides before.
 */
export interface SmallFiles {
  /** The whole file, not to be written to. Undefined where it is not kept. */
  find(digest: Sha256): Uint8Array | undefined
  /** Reads a file of at most `smallFileBytesMax` to its end, and keeps it if it is what its digest says. */
  read(
    file: { readonly digest: Sha256; readonly bytes: number },
    pieces: AsyncIterable<Uint8Array>,
  ): Promise<Uint8Array>
}

export const createSmallFiles = (): SmallFiles => {
  const kept = new LRUCache<Sha256, Uint8Array>({
    maxSize: smallFilesBytesMax,
    // An empty file has a place as well.
    sizeCalculation: (bytes) => Math.max(1, bytes.byteLength),
  })
  return {
    find: (digest) => kept.get(digest),

    async read({ digest, bytes }, pieces) {
      const whole = Buffer.allocUnsafeSlow(bytes)
      let filled = 0
      for await (const piece of pieces) {
        whole.set(piece, filled)
        filled += piece.byteLength
      }
      // What is damaged is sent as it is and shall be seen, but for no longer than the damage lasts.
      if (hash('sha256', whole) === digest) kept.set(digest, whole)
      return whole
    },
  }
}
