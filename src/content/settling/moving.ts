import { hash, randomUUID } from 'node:crypto'
import type { Database } from '../../database/database.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import type { Sha256 } from '../../kernel/digest.ts'
import type { ReachFaultPoint } from '../../kernel/fault-points.ts'
import type { Timers } from '../../kernel/timers.ts'
import { blobName, newGeneration } from '../../ports/blob-name.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import { readWhole } from '../checks/copies.ts'
import { insertRemoval, isStoredAs, lockBlob } from '../claims/claims.queries.ts'
import { isAnnounced, setInline, setInlineAs } from '../claims/kept-inline.queries.ts'
import { giveUpBytes } from '../claims/unheld-bytes.ts'
import { deleteInline, inlineBytesOf, insertInline } from '../inline/inline.queries.ts'
import { heldBack, withHold } from '../reclaim/holds.ts'

/*
 * Stored bytes move from the store into the database, or back, while they are read and given up by others. Killed
 * anywhere, they are in the one or in the other, by what their row says; what is left over in the store has a name that
 * a row or a removal knows.
 */

export interface MovingDeps {
  readonly database: Database
  readonly store: BlobStore
  readonly clock: Clock
  readonly timers: Timers
  readonly reach: ReachFaultPoint
  readonly report: (message: string, error: unknown) => void
}

/** A stored blob, as its row was seen. */
export interface KeptBlob {
  readonly digest: Sha256
  readonly generation: string
  readonly size: number
}

/** A blob whose bytes are not what they are called. They stay where they are. */
export interface Damaged {
  readonly digest: Sha256
  readonly finding: string
}

interface Moves {
  readonly moved: readonly KeptBlob[]
  readonly damaged: readonly Damaged[]
}

/**
 * Moves blobs, in the order of their digests, from the store into the database.
 *
 * Order: read and verify -> one transaction: the row has another name for its bytes, they are inserted, and the old
 * name is a removal -> upkeep removes what lies under it (I1, I2). A name is never used twice, so that a removal and
 * whoever still writes under the old name hit nothing of the new one; who had the old name to read by asks again.
 *
 * A blob that somebody announced is passed over, since they were told the name; and all are while reclaim is held back:
 * whoever holds it reads by names.
 */
export const moveIn = async (deps: MovingDeps, blobs: readonly KeptBlob[]): Promise<Moves> => {
  const { database, clock, reach } = deps
  const { whole, damaged } = await readAll(deps, blobs)
  reach('inline.read')
  const moved = await database.transaction(async (tx) => {
    const nowMs = clock.now()
    const gone: KeptBlob[] = []
    if (await heldBack(tx, nowMs)) return gone
    for (const [blob, bytes] of whole) {
      const { digest, generation, size } = blob
      const row = await lockBlob(tx, digest)
      if (row?.generation !== generation || row.state !== 'stored' || row.inline === 1) continue
      if (await isAnnounced(tx, digest)) continue
      const now = timestamp(nowMs)
      await insertRemoval(tx, { name: blobName(digest, generation), size, begun_at: now, tries: 0, due_at: now })
      const named = newGeneration()
      await insertInline(tx, { generation: named, sha256: digest, bytes })
      await setInlineAs(tx, { digest, generation: named })
      gone.push(blob)
    }
    return gone
  })
  reach('inline.moved')
  return { moved, damaged }
}

const readAll = async (
  { database, store }: MovingDeps,
  blobs: readonly KeptBlob[],
): Promise<{ whole: Map<KeptBlob, Uint8Array>; damaged: Damaged[] }> => {
  const whole = new Map<KeptBlob, Uint8Array>()
  const damaged: Damaged[] = []
  for (const blob of blobs) {
    const { digest, generation, size } = blob
    const pieces: Uint8Array[] = []
    const finding = await readWhole(store, { name: blobName(digest, generation), bytes: size }, async (piece) => {
      pieces.push(Buffer.from(piece))
    })
    if (finding === null) whole.set(blob, Buffer.concat(pieces))
    else if (await isStoredAs(database.reader, digest, generation)) damaged.push({ digest, finding })
  }
  return { whole, damaged }
}

/**
 * Moves blobs, in the order of their digests, from the database into the store, under the name that they have: nobody
 * ever put anything else there.
 *
 * Order: verify, and store durably under the name -> one transaction: the row says that they are in the store, and they
 * go from the database (I1). Reclaim is held back meanwhile, so that no name is given up before its bytes are there:
 * whoever dies in between leaves bytes in the store that go when the row goes.
 */
export const moveOut = (deps: MovingDeps, blobs: readonly KeptBlob[]): Promise<Moves> =>
  withHold(deps, 'moving small files out of the database', async () => {
    const { database, clock, reach } = deps
    const { put, damaged } = await putAll(deps, blobs)
    reach('inline.placed')
    const moved = await database.transaction(async (tx) => {
      const gone: KeptBlob[] = []
      for (const blob of put) {
        const { digest, generation, size } = blob
        const row = await lockBlob(tx, digest)
        if (row?.generation !== generation) {
          await giveUpBytes(tx, blobName(digest, generation), size, timestamp(clock.now()))
          continue
        }
        if (row.inline === 0) continue
        await setInline(tx, { digest, inline: 0 })
        await deleteInline(tx, generation)
        gone.push(blob)
      }
      return gone
    })
    reach('inline.moved')
    return { moved, damaged }
  })

const putAll = async (
  { database, store }: MovingDeps,
  blobs: readonly KeptBlob[],
): Promise<{ put: KeptBlob[]; damaged: Damaged[] }> => {
  const put: KeptBlob[] = []
  const damaged: Damaged[] = []
  for (const blob of blobs) {
    const { digest, generation, size } = blob
    const bytes = await inlineBytesOf(database.reader, generation)
    if (bytes !== undefined && bytes.byteLength === size && hash('sha256', bytes) === digest) {
      const name = blobName(digest, generation)
      const staged = await store.stage(randomUUID(), { name, bytes: size })
      try {
        await staged.write(Buffer.from(bytes))
        await staged.publish(name)
      } finally {
        await staged.discard()
      }
      put.push(blob)
    } else if (await isStoredAs(database.reader, digest, generation)) {
      // It may have been moved by somebody else meanwhile.
      const name = blobName(digest, generation)
      const finding = await readWhole(store, { name, bytes: size }, async () => {})
      if (finding !== null) damaged.push({ digest, finding })
    }
  }
  return { put, damaged }
}
