import type { Database } from '../../database/database.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import type { BlobName } from '../../ports/blob-name.ts'
import { blobName } from '../../ports/blob-name.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import { lockBlob } from './claims.queries.ts'
import type { WholeContent } from './claims.ts'
import { putInline } from './kept-inline.ts'
import type { Content } from './room.ts'
import { storedGeneration } from './stored-names.queries.ts'
import { giveUpBytes } from './unheld-bytes.ts'

/**
 * Bytes that rows call stored and that are sent once more. Whoever hears that they are there counts on it, so the store
 * is asked; what it has lost, or has another length of, comes back with them. Bytes of the right length that rotted are
 * found by those who read them.
 */
interface PutBackDeps {
  readonly database: Database
  readonly clock: Clock
  readonly store: Pick<BlobStore, 'size'>
}

/** Whether they are stored, and the store has as many. */
export const isKeptWhole = async (deps: Omit<PutBackDeps, 'clock'>, content: Content): Promise<boolean> => {
  const generation = await storedGeneration(deps.database.reader, content.digest)
  return generation !== undefined && (await deps.store.size(blobName(content.digest, generation))) === content.bytes
}

/** `keepAs` makes the bytes, which were verified, durable under their name in place of what is there. */
export const putBack = async (
  deps: PutBackDeps,
  content: Content,
  keepAs: (name: BlobName) => Promise<void>,
): Promise<void> => {
  const { database, clock, store } = deps
  const generation = await storedGeneration(database.reader, content.digest)
  if (generation === undefined) return
  const name = blobName(content.digest, generation)
  if ((await store.size(name)) === content.bytes) return
  await keepAs(name)
  // Reclaim may have removed them meanwhile, and looks again (I2).
  await database.transaction((tx) => giveUpBytes(tx, name, content.bytes, timestamp(clock.now())))
}

/** The same of small bytes, which come to lie in the database. */
export const putBackInline = async (deps: PutBackDeps, { digest, whole }: WholeContent): Promise<void> => {
  if (await isKeptWhole(deps, { digest, bytes: whole.byteLength })) return
  await deps.database.transaction(async (tx) => {
    const row = await lockBlob(tx, digest)
    if (row?.state !== 'stored' || row.size !== whole.byteLength) return
    await putInline(tx, digest, row.generation, whole)
  })
}
