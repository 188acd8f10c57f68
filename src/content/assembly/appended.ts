import type { Transaction } from '../../database/database.ts'
import type { AssembliesTable } from '../../database/tables/assemblies.ts'
import { Failure } from '../../kernel/failure.ts'
import { newId } from '../../kernel/ids.ts'
import { appendedBytesMax } from '../../kernel/limits/transfers.ts'
import { adjust } from '../claims/claims.ts'
import { type Room, roomOf } from '../claims/room.ts'
import type { ThreadHash } from '../hashing/hashing.ts'
import { growAhead, type UndeclaredBytes } from '../ingest/growing-ahead.ts'
import { findAssembly, growTo, insertAssembly, putSegment } from './assembly.queries.ts'
import { type AssemblyDeps, type Lease, saidIfLost, saidOfPlace } from './assembly.ts'
import { SegmentWriter } from './segment-writer.ts'
import { segmentAt } from './segments.ts'

/**
 * Bytes that are appended, over days, through any process, and of which neither length nor digest is known before the
 * last one: beside parts (assembly.ts) the other long way through the one door into the store.
 *
 * Order: write a segment while hashing -> make it durable -> one transaction with its row and how much is stored (I1).
 * The last segment, where it is not full, is written again with what comes after it. The running hash goes on from
 * where the last record was; a process that has lost it stores all the same, and publishing reads
 * (`published-appended.ts`).
 *
 * A crash leaves bytes that no row counts: whoever goes on, from where `storedBytes` says, writes over them or beside
 * them.
 *
 * Room is set aside ahead of what comes, and what is not needed given back with the last record, or where bytes break
 * off: an upload that is waited for reserves what it has.
 *
 * Whoever calls holds the upload's lease, as for parts; who lost it without knowing finds that the row says something
 * else. The upload takes no more once it was verified: from then on it can only be published.
 */
interface Chunk extends Omit<UndeclaredBytes, 'room'> {
  /** Where the sender believes that it goes on; null where they did not say. */
  readonly offset: number | null
  readonly pieces: AsyncIterable<Uint8Array>
}

/** How many bytes of an upload are stored. They are the first ones, and survive a power cut. */
export const storedBytes = async ({ database }: Pick<AssemblyDeps, 'database'>, claimId: string): Promise<number> =>
  (await findAssembly(database.reader, claimId))?.stored_bytes ?? 0

/**
 * Appends what comes, and answers how much is stored then. `alongside` runs in the transaction that records the last of
 * it. 416 `range_not_satisfiable` for another offset than the end of what is stored, which changes nothing; 413
 * `body_too_large`, 507 where there is no room, 409 `upload_state` once it is being published, or what the body throws:
 * then what is stored is the beginning of it.
 */
export const append = async (
  deps: AssemblyDeps,
  claimId: string,
  chunk: Chunk,
  lease: Lease,
  alongside: (tx: Transaction) => Promise<void>,
): Promise<number> => {
  const room = await roomOf(deps, claimId)
  const known = await findAssembly(deps.database.reader, claimId)
  if (room.name !== null || known?.verified === 1)
    throw new Failure('upload_state', 'The upload is being completed; it takes nothing any more.')
  const stored = known?.stored_bytes ?? 0
  if (chunk.offset !== null && chunk.offset !== stored)
    throw new Failure('range_not_satisfiable', `The upload has ${stored} bytes; what is appended begins there.`)
  const row = await placeOf(deps, claimId)
  const seen = deps.hashes.resume(claimId, { parts: row.stored_bytes, state: row.hash_state })
  try {
    const running = seen.parts === row.stored_bytes ? seen.hash : null
    return await appendTo(deps, { row, room, chunk, lease, running }, alongside)
  } catch (error) {
    await leaveRoom(deps, claimId, room, lease)
    throw await saidOfPlace(deps, row, error)
  } finally {
    seen.hash.drop()
  }
}

/** What was set aside for bytes that did not come goes back. */
const leaveRoom = async (deps: AssemblyDeps, claimId: string, room: Room, lease: Lease): Promise<void> => {
  try {
    lease.assertHeld()
    await room.resize(await storedBytes(deps, claimId), 0)
  } catch {
    // It ended, or whoever has it by now sets aside what they need; else its end gives all of it back.
  }
}

interface Appending {
  readonly row: AssembliesTable
  readonly room: Room
  readonly chunk: Chunk
  readonly lease: Lease
  /** The hash of all that is stored, or null where this process has not seen it. */
  readonly running: ThreadHash | null
}

const appendTo = async (
  deps: AssemblyDeps,
  { row, room, chunk, lease, running }: Appending,
  alongside: (tx: Transaction) => Promise<void>,
): Promise<number> => {
  const claimId = row.claim_id
  const maxBytes = Math.min(chunk.maxBytes, appendedBytesMax)
  const growing = deps.store.growing(row.place)
  let stored = row.stored_bytes
  let isTold = false

  const tell = async (tx: Transaction, bytes: number): Promise<void> => {
    await alongside(tx)
    await adjust(tx, claimId, { bytes, ahead: 0 }, deps.capacityBytes)
  }

  /** The segment that was written, and all before it, are what is stored now. */
  const record = async (writer: SegmentWriter, isLast: boolean): Promise<void> => {
    const { receipt, end } = await writer.finish().catch(saidIfLost)
    deps.reach('part.placed')
    const state = running === null ? null : await deps.hashes.state(running)
    lease.assertHeld()
    writer.keep()
    await deps.database.transaction(async (tx) => {
      if (isLast) await tell(tx, end)
      if (!(await growTo(tx, { claimId, from: stored, to: end, state })))
        throw new Failure('busy', 'Another request has appended to this upload, or completes it.', {
          retryAfterSeconds: 5,
        })
      await putSegment(tx, { claim_id: claimId, part_index: writer.index, sha256: '', receipt })
    })
    stored = end
    isTold = isLast
    if (running !== null) deps.hashes.keep(claimId, running, stored)
    deps.reach('part.recorded')
    // What is left of it goes with the upload.
    if (writer.replaced !== null) await growing.dropSegment(writer.replaced).catch(() => {})
  }

  let writer: SegmentWriter | null = null
  try {
    for await (const piece of chunk.pieces) {
      for (let at = 0; at < piece.byteLength; ) {
        lease.assertHeld()
        writer ??= await SegmentWriter.open(growing, await segmentAt(deps, claimId, stored), stored, lease).catch(
          saidIfLost,
        )
        const taken = piece.subarray(at, at + writer.roomBytes)
        const bytes = writer.end + taken.byteLength
        if (bytes > maxBytes)
          throw new Failure('body_too_large', `An upload that is appended to may have ${maxBytes} bytes.`)
        if (bytes > room.bytes) await growAhead(deps, { ...chunk, room, maxBytes }, bytes)
        at += taken.byteLength
        await running?.update(taken)
        // The store keeps what it is given, and gives memory back that a piece has for itself.
        await writer.write(taken.byteLength === piece.byteLength ? piece : Uint8Array.from(taken)).catch(saidIfLost)
        if (writer.roomBytes > 0) continue
        await record(writer, false)
        writer = null
      }
    }
    deps.reach('part.received')
    if (writer !== null) await record(writer, true)
  } catch (error) {
    await writer?.discard()
    throw error
  }
  if (!isTold) await deps.database.transaction((tx) => tell(tx, stored))
  return stored
}

/** The row of the upload's place; made with the first chunk. Whoever dies in between leaves a place for the sweep. */
const placeOf = async (deps: AssemblyDeps, claimId: string): Promise<AssembliesTable> => {
  const known = await findAssembly(deps.database.reader, claimId)
  if (known !== undefined) return known
  const place = newId(deps.clock.now())
  await deps.store.growing(place).begin()
  const fresh = { stored_bytes: 0, hashed_parts: 0, hash_state: null, verified: 0 }
  const row = await deps.database.transaction(
    async (tx) => {
      await insertAssembly(tx, { claim_id: claimId, place, ...fresh })
      return findAssembly(tx, claimId)
    },
    { durability: 'relaxed' },
  )
  // Whoever took our lease over has made one meanwhile.
  if (row?.place !== place) await deps.store.discardStaged(place)
  if (row === undefined) throw new Failure('upload_state', 'The upload has ended.')
  return row
}
