import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { toSha256 } from '../kernel/digest.ts'
import { readAheadBytes } from '../kernel/limits/transfers.ts'
import type { ByteRange } from '../kernel/range.ts'
import { type BlobName, blobName } from './blob-name.ts'
import { type BlobStore, type StagingPlan, unplanned } from './blob-store.ts'

/** What tests of blob stores do all the time. */

/** What bytes are called in these tests: always the same, since each test has a store of its own. */
export const nameOf = (bytes: Uint8Array): BlobName =>
  blobName(toSha256(createHash('sha256').update(bytes).digest('hex')), 'e'.repeat(32))

/** Pieces with memory of their own, since they belong to the store. */
export const inPieces = function* (bytes: Uint8Array, pieceBytes: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += pieceBytes) yield Uint8Array.from(bytes.subarray(at, at + pieceBytes))
}

/** Stores the bytes under their name, the way that `content/` does. */
export const put = async (
  store: BlobStore,
  bytes: Uint8Array,
  pieceBytes = 65_536,
  plan: StagingPlan = unplanned,
): Promise<BlobName> => {
  const staged = await store.stage(randomUUID(), plan)
  for (const piece of inPieces(bytes, pieceBytes)) await staged.write(piece)
  const name = nameOf(bytes)
  await staged.publish(name)
  return name
}

/** The rest of an open blob, each piece copied while it is valid. */
export const rest = async (pieces: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const copies: Uint8Array[] = []
  for await (const piece of pieces) {
    assert.ok(piece.byteLength > 0 && piece.byteLength <= readAheadBytes, `a piece of ${piece.byteLength} bytes`)
    copies.push(Uint8Array.from(piece))
  }
  return Buffer.concat(copies)
}

export const get = async (store: BlobStore, name: BlobName, range: ByteRange, blobBytes?: number): Promise<Buffer> =>
  rest(await store.open(name, range, blobBytes))

export const same = (actual: Uint8Array, expected: Uint8Array): void =>
  assert.ok(Buffer.compare(actual, expected) === 0, `${actual.byteLength} bytes differ from ${expected.byteLength}`)

export const all = async <T>(entries: AsyncIterable<T>): Promise<T[]> => Array.fromAsync(entries)

export const stagedIds = async (store: BlobStore): Promise<string[]> =>
  (await all(store.listStaged())).map(({ place }) => place).sort()
