import type { ByteRange } from '../../kernel/range.ts'
import { lookInto, type StoredBytes } from './stored-bytes.ts'

/** Bytes that are nearly all different from their neighbours. */
export const someBytes = (length: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, n) => (n * 31 + (n >> 8)) % 251))

/** A blob that can only be read; the ranges that it is asked for are noted. */
export const lookedInto = (whole: Buffer): { file: StoredBytes; asked: ByteRange[] } => {
  const asked: ByteRange[] = []
  const open = async (range: ByteRange): Promise<AsyncIterable<Uint8Array>> => {
    asked.push(range)
    return pieces(whole, range)
  }
  return { file: lookInto(whole.byteLength, open), asked }
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
