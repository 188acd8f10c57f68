import type { Database } from '../../database/database.ts'
import type { Sha256 } from '../../kernel/digest.ts'
import { notFound } from '../../kernel/failure.ts'
import { inlineBytesMax } from '../../kernel/limits/engines.ts'
import { OnePiece } from '../../kernel/one-piece.ts'
import type { ByteRange } from '../../kernel/range.ts'
import { type BlobName, blobName } from '../../ports/blob-name.ts'
import { BlobMissing, type BlobStore } from '../../ports/blob-store.ts'
import { findStored, storedGeneration } from './stored-names.queries.ts'

export interface OpeningDeps {
  readonly database: Pick<Database, 'reader'>
  readonly store: Pick<BlobStore, 'open'>
}

/** What the bytes of a digest are called in the store at this moment. 404 where they were given up meanwhile. */
export const storedName = async ({ database }: Pick<OpeningDeps, 'database'>, digest: Sha256): Promise<BlobName> => {
  const generation = await storedGeneration(database.reader, digest)
  if (generation === undefined) throw notFound('file')
  return blobName(digest, generation)
}

/**
 * Opens stored bytes. Between the look for a file and its turn to be read somebody may delete it, and reclaim remove
 * it: that is 404. Bytes that a row goes on calling stored and that are not there are damage, and shall be seen.
 */
export const openStored = async (
  deps: OpeningDeps,
  { digest, bytes }: { readonly digest: Sha256; readonly bytes: number },
  range: ByteRange,
): Promise<AsyncIterableIterator<Uint8Array>> => {
  for (let missing: BlobName | null = null; ; ) {
    const stored = await find(deps, digest, bytes)
    if (stored.bytes !== null) return pieceOf(stored.bytes, range)
    const { name } = stored
    try {
      return await deps.store.open(name, range, bytes)
    } catch (error) {
      if (!(error instanceof BlobMissing)) throw error
      if (name === missing) throw new Error(`the stored bytes of ${digest} are missing (${name})`, { cause: error })
      missing = name
    }
  }
}

/** What the bytes are called, and those that are small enough to be inline, if they are. */
const find = async (
  deps: OpeningDeps,
  digest: Sha256,
  bytes: number,
): Promise<{ readonly name: BlobName; readonly bytes: Uint8Array | null }> => {
  if (bytes > inlineBytesMax) return { name: await storedName(deps, digest), bytes: null }
  const stored = await findStored(deps.database.reader, digest)
  if (stored === undefined) throw notFound('file')
  return { name: blobName(digest, stored.generation), bytes: stored.bytes }
}

const pieceOf = (bytes: Uint8Array, { start, end }: ByteRange): AsyncIterableIterator<Uint8Array> =>
  new OnePiece(end > start ? bytes.subarray(start, end) : undefined)
