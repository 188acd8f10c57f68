import { hash } from 'node:crypto'
import type { Database } from '../../database/database.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { blobName } from '../../ports/blob-name.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import { lockBlob } from '../claims/claims.queries.ts'
import type { Content } from '../claims/room.ts'
import { findStored } from '../claims/stored-names.queries.ts'
import { giveUpBytes } from '../claims/unheld-bytes.ts'
import { deleteInline, insertInline } from '../inline/inline.queries.ts'
import { CopyDamaged, copyIn } from './copies.ts'

interface ReplacingDeps {
  readonly database: Database
  readonly clock: Clock
  readonly store: Pick<BlobStore, 'stage'>
}

/**
 * Puts stored bytes that have rotted back, whatever length they have by now. `pieces` are verified before they get
 * their name (I3); {@link CopyDamaged} where they are others. False where nobody calls these bytes stored any more.
 */
export const replaceRotten = async (
  deps: ReplacingDeps,
  content: Content,
  pieces: () => AsyncIterable<Uint8Array>,
): Promise<boolean> => {
  const { database, clock, store } = deps
  const row = await findStored(database.reader, content.digest)
  if (row === undefined) return false
  const name = blobName(content.digest, row.generation)
  if (row.bytes !== null) {
    const whole = await wholeVerified(content, pieces())
    await database.transaction(async (tx) => {
      const locked = await lockBlob(tx, content.digest)
      if (locked?.generation !== row.generation || locked.state !== 'stored') return
      await deleteInline(tx, row.generation)
      await insertInline(tx, { generation: row.generation, sha256: content.digest, bytes: whole })
    })
    return true
  }
  await copyIn(store, { name, bytes: content.bytes }, pieces())
  // Reclaim may have removed them meanwhile, and looks again (I2).
  await database.transaction((tx) => giveUpBytes(tx, name, content.bytes, timestamp(clock.now())))
  return true
}

const wholeVerified = async ({ digest, bytes }: Content, pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const whole = Buffer.concat(await Array.fromAsync(pieces))
  if (whole.byteLength !== bytes || hash('sha256', whole) !== digest)
    throw new CopyDamaged(`it has ${whole.byteLength} bytes, which are not those of ${digest}`)
  return whole
}
