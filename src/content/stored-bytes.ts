import type { Sha256 } from '../kernel/digest.ts'
import { archiveWindowBytes } from '../kernel/limits.ts'
import { BlobMissing, type BlobStore } from '../ports/blob-store.ts'

/** Stored bytes that are looked into rather than sent: any place of a blob, whatever its size. */
export interface StoredBytes {
  readonly bytes: number
  /** A copy of these bytes. Throws a RangeError where they are not within the blob. */
  read(position: number, length: number): Promise<Buffer>
}

/**
 * Reads a blob by ranges. What was read last is kept, at least a window of it, so that going through a part of it in small
 * steps costs few requests. One caller at a time.
 */
export const lookInto = (store: Pick<BlobStore, 'open'>, digest: Sha256, bytes: number): StoredBytes => {
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
          bytes: await fetch(store, digest, bytes, position, Math.max(length, archiveWindowBytes)),
        }
      const at = position - window.start
      return Buffer.from(window.bytes.subarray(at, at + length))
    },
  }
}

const fetch = async (
  store: Pick<BlobStore, 'open'>,
  digest: Sha256,
  bytes: number,
  start: number,
  atMost: number,
): Promise<Buffer> => {
  const range = { start, end: Math.min(start + atMost, bytes) }
  const fetched = Buffer.allocUnsafe(range.end - range.start)
  let filled = 0
  if (fetched.byteLength === 0) return fetched
  for await (const piece of await open(store, digest, range, bytes)) {
    fetched.set(piece, filled)
    filled += piece.byteLength
  }
  return fetched
}

/** A row says that the bytes are there: if they are not, that is damage. */
const open = async (
  store: Pick<BlobStore, 'open'>,
  digest: Sha256,
  range: { start: number; end: number },
  bytes: number,
) => {
  try {
    return await store.open(digest, range, bytes)
  } catch (error) {
    if (error instanceof BlobMissing) throw new Error(`the stored bytes of ${digest} are missing`, { cause: error })
    throw error
  }
}
