import { archiveWindowBytes } from '../../kernel/limits/packages.ts'
import type { ByteRange } from '../../kernel/range.ts'

/** Stored bytes that are looked into rather than sent: any place of a blob, whatever its size. */
export interface StoredBytes {
  readonly bytes: number
  /** A copy of these bytes. Throws a RangeError where they are not within the blob. */
  read(position: number, length: number): Promise<Buffer>
}

/** Opens a range of the blob, as `openStored` does. */
type Open = (range: ByteRange) => Promise<AsyncIterable<Uint8Array>>

/**
 * Reads a blob by ranges. What was read last is kept, at least a window of it, so that going through a part of it in
 * small steps costs few requests. One caller at a time.
 */
export const lookInto = (bytes: number, open: Open): StoredBytes => {
  let window: { readonly start: number; readonly bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) }
  return {
    bytes,
    async read(position, length) {
      const end = position + length
      if (!Number.isSafeInteger(position) || position < 0 || length < 0 || end > bytes)
        throw new RangeError(`bytes ${position} to ${end} do not lie within ${bytes}`)
      if (position < window.start || end > window.start + window.bytes.byteLength)
        window = {
          start: position,
          bytes: await fetch(open, bytes, position, Math.max(length, archiveWindowBytes)),
        }
      const at = position - window.start
      return Buffer.from(window.bytes.subarray(at, at + length))
    },
  }
}

const fetch = async (open: Open, bytes: number, start: number, atMost: number): Promise<Buffer> => {
  const range = { start, end: Math.min(start + atMost, bytes) }
  const fetched = Buffer.allocUnsafe(range.end - range.start)
  let filled = 0
  if (fetched.byteLength === 0) return fetched
  for await (const piece of await open(range)) {
    fetched.set(piece, filled)
    filled += piece.byteLength
  }
  return fetched
}
