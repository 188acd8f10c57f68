import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Sha256 } from '../../kernel/digest.ts'
import {
  lovedFileBytesMax,
  lovedFilesAmong,
  smallFileBytesMax,
  smallFilesBytesMax,
} from '../../kernel/limits/downloads.ts'

/**
 * Small files that were sent lately, in memory: sending one again costs no turn of the thread pool, and no request
 * where the store is across a network (measured with 4 KiB on a directory: a third of the event loop's time). What a
 * digest names never changes, so it is right for as long as it is kept. Who may have it, and whether it is still there,
 * the catalog decides before.
 */
export interface SmallFiles {
  /** The whole file, not to be written to. Undefined where it is not kept. */
  find(digest: Sha256): Uint8Array | undefined
  /**
   * Whether it should be read whole, to be kept: what is small always, what is larger where it was asked for lately.
   * Who asks for many larger ones, once each, has none of them hashed and kept in vain.
   */
  isWanted(file: { readonly digest: Sha256; readonly bytes: number }): boolean
  /** Reads a file that is wanted to its end, and keeps it if it is what its digest says. */
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
  const askedLately = new LRUCache<Sha256, true>({ max: lovedFilesAmong })
  return {
    find: (digest) => kept.get(digest),

    isWanted({ digest, bytes }) {
      if (bytes <= smallFileBytesMax) return true
      if (bytes > lovedFileBytesMax) return false
      const again = askedLately.has(digest)
      askedLately.set(digest, true)
      return again
    },

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
