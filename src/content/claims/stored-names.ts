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

interface File {
  readonly digest: Sha256
  readonly bytes: number
}

/** What the bytes are called, and those that are small enough to be inline, if they are. */
interface Stored {
  readonly name: BlobName
  readonly bytes: Uint8Array | null
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
export const openStored = (
  deps: OpeningDeps,
  file: File,
  range: ByteRange,
): Promise<AsyncIterableIterator<Uint8Array>> =>
  wherever(deps, file, async ({ name, bytes }) =>
    bytes === null ? await deps.store.open(name, range, file.bytes) : pieceOf(bytes, range),
  )

/**
 * The path below the folder of the store of the file that holds stored bytes: it was there a moment ago. Null where
 * they are in no file. Throws as {@link openStored}.
 */
export const fileOfStored = (
  deps: Pick<OpeningDeps, 'database'> & { readonly store: Pick<BlobStore, 'file'> },
  file: File,
): Promise<string | null> =>
  wherever(deps, file, async ({ name, bytes }) => (bytes === null ? await deps.store.file(name, file.bytes) : null))

/** Looks again where the bytes are no more, once for each name that they had. */
const wherever = async <T>(
  deps: Pick<OpeningDeps, 'database'>,
  { digest, bytes }: File,
  use: (stored: Stored) => Promise<T>,
): Promise<T> => {
  for (let missing: BlobName | null = null; ; ) {
    const stored = await find(deps, digest, bytes)
    try {
      return await use(stored)
    } catch (error) {
      if (!(error instanceof BlobMissing)) throw error
      const { name } = stored
      if (name === missing) throw new Error(`the stored bytes of ${digest} are missing (${name})`, { cause: error })
      missing = name
    }
  }
}

const find = async (deps: Pick<OpeningDeps, 'database'>, digest: Sha256, bytes: number): Promise<Stored> => {
  if (bytes > inlineBytesMax) return { name: await storedName(deps, digest), bytes: null }
  const stored = await findStored(deps.database.reader, digest)
  if (stored === undefined) throw notFound('file')
  return { name: blobName(digest, stored.generation), bytes: stored.bytes }
}

const pieceOf = (bytes: Uint8Array, { start, end }: ByteRange): AsyncIterableIterator<Uint8Array> =>
  new OnePiece(end > start ? bytes.subarray(start, end) : undefined)
