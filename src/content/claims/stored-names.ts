import type { Database } from '../../database/database.ts'
import type { Sha256 } from '../../kernel/digest.ts'
import { notFound } from '../../kernel/failure.ts'
import type { ByteRange } from '../../kernel/range.ts'
import { type BlobName, blobName } from '../../ports/blob-name.ts'
import { BlobMissing, type BlobStore } from '../../ports/blob-store.ts'
import { storedGeneration } from './stored-names.queries.ts'

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
    const name = await storedName(deps, digest)
    try {
      return await deps.store.open(name, range, bytes)
    } catch (error) {
      if (!(error instanceof BlobMissing)) throw error
      if (name === missing) throw new Error(`the stored bytes of ${digest} are missing (${name})`, { cause: error })
      missing = name
    }
  }
}
