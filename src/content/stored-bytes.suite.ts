import { toSha256 } from '../kernel/digest.ts'
import type { ByteRange } from '../kernel/range.ts'
import { BlobMissing, type BlobStore } from '../ports/blob-store.ts'
import { lookInto, type StoredBytes } from './stored-bytes.ts'

/** Bytes that are nearly all different from their neighbours. */
export const someBytes = (length: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, n) => (n * 31 + (n >> 8)) % 251))

/** A store that holds one blob, and can do nothing but be read; what it is asked for is noted. Null: it has lost it. */
export const lookedInto = (whole: Buffer | null): { file: StoredBytes; asked: ByteRange[] } => {
  const asked: ByteRange[] = []
  const open: BlobStore['open'] = async (_, range) => {
    if (whole === null) throw new BlobMissing('lost')
    asked.push(range)
    return pieces(whole, range)
  }
  const store: Pick<BlobStore, 'open'> = { open }
  return { file: lookInto(store, toSha256('0'.repeat(64)), whole?.byteLength ?? 10), asked }
}

/** One memory for all pieces, as the port allows. */
async function* pieces(whole: Buffer, { start, end }: ByteRange): AsyncGenerator<Uint8Array, undefined> {
  const memory = Buffer.alloc(10_000)
  for (let at = start; at < end; at += memory.byteLength) {
    const length = Math.min(memory.byteLength, end - at)
    whole.copy(memory, 0, at, at + length)
    yield memory.subarray(0, length)
  }
}
