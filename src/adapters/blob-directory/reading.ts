import fs, { constants } from 'node:fs'
import { ownReadBufferBytesMax } from '../../kernel/limits/engines.ts'
import { OnePiece } from '../../kernel/one-piece.ts'
import type { ByteRange } from '../../kernel/range.ts'
import { closeLater, readFully } from './files.ts'
import { readAhead, truncated } from './read-ahead.ts'

/** The bytes of a range, by the way that costs least. ENOENT passes unchanged. */
export const openRange = async (
  path: string,
  range: ByteRange,
  blobBytes: number | undefined,
): Promise<AsyncIterableIterator<Uint8Array>> => {
  const bytes = range.end - range.start
  if (!(range.start >= 0 && bytes >= 0)) throw new RangeError(`not a range: ${range.start} to ${range.end}`)
  if (bytes > ownReadBufferBytesMax) return readAhead(path, range)
  return bytes === blobBytes ? readWhole(path, bytes) : readPart(path, range)
}

/** A small range: read before this resolves, so that nothing is left open behind the iterator. */
const readPart = (path: string, range: ByteRange): Promise<AsyncIterableIterator<Uint8Array>> =>
  new Promise((resolve, reject) => {
    // One promise around three calls: a chain of awaits costs as much again as the calls.
    fs.open(path, constants.O_RDONLY, (error, descriptor) => {
      if (error !== null) return reject(error)
      if (range.end === range.start) {
        closeLater(descriptor)
        return resolve(new OnePiece(undefined))
      }
      const piece = Buffer.allocUnsafeSlow(range.end - range.start)
      readFully(descriptor, piece, range.start, (error, bytes) => {
        closeLater(descriptor)
        if (error !== null) reject(error)
        else if (bytes < piece.byteLength) reject(truncated(path, range.end, range.start + bytes))
        else resolve(new OnePiece(piece))
      })
    })
  })

/**
 * A small blob, whole. Node opens, reads and closes such a file in one turn of its thread pool, not in
 * three (since 26; measured with 4 KiB, one at a time: 16 µs of the main thread against 47 µs). Only for a file whose
 * size is known, since it reads to the end.
 */
const readWhole = (path: string, bytes: number): Promise<AsyncIterableIterator<Uint8Array>> =>
  new Promise((resolve, reject) => {
    fs.readFile(path, (error, piece) => {
      if (error !== null) reject(error)
      else if (piece.byteLength < bytes) reject(truncated(path, bytes, piece.byteLength))
      else if (piece.byteLength > bytes) reject(new Error(`${path} has ${piece.byteLength} bytes instead of ${bytes}`))
      else resolve(new OnePiece(bytes === 0 ? undefined : piece))
    })
  })
