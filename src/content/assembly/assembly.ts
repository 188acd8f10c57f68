import type { Queries, Transaction } from '../../database/database.ts'
import type { AssembliesTable, AssemblyPartsTable } from '../../database/tables/assemblies.ts'
import { type Sha256, toSha256 } from '../../kernel/digest.ts'
import { Failure } from '../../kernel/failure.ts'
import { newId } from '../../kernel/ids.ts'
import { partsPage, roomLookEveryBytes } from '../../kernel/limits/transfers.ts'
import { type Assembly, AssemblyLost, type AssemblyPlan, type FinishedPart } from '../../ports/blob-store.ts'
import { announcedName } from '../claims/claims.ts'
import type { RoomDeps } from '../claims/room.ts'
import type { ThreadHash, TransferHash } from '../hashing/hashing.ts'
import type { RunningHashes } from '../hashing/running-hash.ts'
import type { IngestDeps } from '../ingest/ingest.ts'
import {
  countParts,
  countStored,
  deleteEmptyAssembly,
  findAssembly,
  findPart,
  insertAssembly,
  insertPart,
  partPage,
  saveHash,
} from './assembly.queries.ts'
import { type Plan, partCount, partLength } from './part-plan.ts'

/**
 * Bytes that come in parts, over days, through any process: the second half of the one door into the store.
 *
 * Order for a part: write it in place while hashing -> verify and make durable, side by side -> one transaction with
 * its row (I1). Order for the whole: all parts have rows -> the running hash, or reading what it has not seen -> verify
 * -> final name (I3) -> the transaction of `Room.publish`.
 *
 * A crash in a part leaves bytes in place that no row counts: the next try writes over them. One between the final name
 * and the transaction leaves a complete blob and the rows of its parts: completing again reads it, and finds that it is
 * published.
 *
 * Whoever calls holds the upload's lease, so that one works on it at a time; `lease` throws once it is lost, and is
 * asked before every write: two must not write to one place.
 */
export interface AssemblyDeps extends IngestDeps, RoomDeps {
  readonly hashes: RunningHashes
}

/**
 * Stored parts are gone from the store: it was emptied behind our back, or by a rule for old uploads. 409
 * `upload_state`.
 */
export const partsLost = (cause: AssemblyLost): Failure =>
  new Failure('upload_state', 'Stored parts of this upload are gone from the blob store. Cancel it and send it anew.', {
    cause,
  })

export const saidIfLost = (error: unknown): never => {
  throw error instanceof AssemblyLost ? partsLost(error) : error
}

/** True for the failure that lost parts bring: asking again changes nothing. */
export const meansPartsLost = (error: unknown): boolean =>
  error instanceof Failure && error.cause instanceof AssemblyLost

/** A blob in parts under the claim that reserves its room. */
export interface PlannedBlob extends Plan {
  readonly claimId: string
  readonly digest: Sha256
}

export interface Lease {
  assertHeld(): void
}

interface IncomingPart {
  readonly index: number
  readonly digest: Sha256
  readonly pieces: AsyncIterable<Uint8Array>
}

/** What the store has to know of a blob: what it will be called as well. */
export const planOf = async (deps: AssemblyDeps, blob: PlannedBlob, { verified = 0 } = {}): Promise<AssemblyPlan> => ({
  name: await announcedName(deps.database.reader, blob.claimId),
  bytes: blob.bytes,
  partBytes: blob.partBytes,
  verified: verified === 1,
})

export const savedHash = (row: AssembliesTable) => ({ parts: row.hashed_parts, state: row.hash_state })

/**
 * Takes one part in. When it resolves the part survives a power cut; `alongside` runs in the transaction that records
 * it. 422 when size or digest differ, 409 `part_mismatch` when another content is stored under the index. The same
 * content again is verified and changes nothing.
 */
export const receivePart = async (
  deps: AssemblyDeps,
  blob: PlannedBlob,
  incoming: IncomingPart,
  lease: Lease,
  alongside: (tx: Transaction) => Promise<void>,
): Promise<void> => {
  const known = await findPart(deps.database.reader, blob.claimId, incoming.index)
  if (known !== undefined) return confirmPart(deps, blob, incoming, known.sha256, alongside)
  await deps.freeSpace.refuseUnlessRoomFor(partLength(blob, incoming.index))
  const plan = await planOf(deps, blob)
  const row = await assemblyOf(deps, blob, plan)
  const seen = deps.hashes.resume(blob.claimId, savedHash(row))
  try {
    const running = seen.parts === incoming.index ? seen.hash : null
    await storePart(deps, { blob, assembly: deps.store.assembly(row.place, plan), incoming, running, lease }, alongside)
  } catch (error) {
    throw await saidOfPlace(deps, row, error)
  } finally {
    seen.hash.drop()
  }
}

/**
 * What to say of a failure at a place. One that is gone before anything was stored in it loses nothing: 503 `busy`, and
 * the next try begins another. A process whose clock is far ahead takes a place that was made a moment ago for what the
 * dead left behind.
 */
export const saidOfPlace = async (
  deps: AssemblyDeps,
  { claim_id, place }: Pick<AssembliesTable, 'claim_id' | 'place'>,
  error: unknown,
): Promise<unknown> => {
  if (!meansPartsLost(error)) return error
  const forgotten = await deps.database.transaction((tx) => deleteEmptyAssembly(tx, { claimId: claim_id, place }))
  if (!forgotten) return error
  await deps.store.discardStaged(place)
  return new Failure('busy', 'The place of this upload was gone, and nothing stored was in it. Send it again.', {
    cause: error,
  })
}

interface StoringPart {
  readonly blob: PlannedBlob
  readonly assembly: Assembly
  readonly incoming: IncomingPart
  /** The hash of all parts before this one, or null where it has not seen them all. */
  readonly running: ThreadHash | null
  readonly lease: Lease
}

const storePart = async (
  deps: AssemblyDeps,
  { blob, assembly, incoming, running, lease }: StoringPart,
  alongside: (tx: Transaction) => Promise<void>,
): Promise<void> => {
  lease.assertHeld()
  const part = await assembly
    .writePart(incoming.index, { readBack: running === null, mayWrite: () => lease.assertHeld() })
    .catch(saidIfLost)
  let bytes = 0
  let roomSeenAtBytes = 0
  const take = () =>
    verified(deps, blob, incoming, {
      running,
      async write(piece) {
        lease.assertHeld()
        bytes += piece.byteLength
        // There was room for this part when it began; others that came in meanwhile had room then, too.
        if (bytes - roomSeenAtBytes >= roomLookEveryBytes) {
          await deps.freeSpace.refuseUnlessRoomFor(0)
          roomSeenAtBytes = bytes
        }
        await part.write(piece).catch(saidIfLost)
      },
      async finish() {
        deps.reach('part.received')
        return part.finish().catch(saidIfLost)
      },
    })
  // From here on its receipt may be in the database, whatever fails.
  const receipt = await take().catch(async (error: unknown) => {
    await part.discard()
    throw error
  })
  deps.reach('part.placed')
  const state = running === null ? null : await deps.hashes.state(running)
  await deps.database.transaction(async (tx) => {
    await alongside(tx)
    await insertPart(tx, { claim_id: blob.claimId, part_index: incoming.index, sha256: incoming.digest, receipt })
    await countStored(tx, { claimId: blob.claimId, bytes: partLength(blob, incoming.index) })
    if (state !== null)
      await saveHash(tx, { claim_id: blob.claimId, hashed_parts: incoming.index + 1, hash_state: state })
  })
  if (running !== null) deps.hashes.keep(blob.claimId, running, incoming.index + 1)
  deps.reach('part.recorded')
}

/** The part is stored. What is sent again under its index must be the same, and is only looked at. */
const confirmPart = async (
  deps: AssemblyDeps,
  blob: PlannedBlob,
  incoming: IncomingPart,
  stored: string,
  alongside: (tx: Transaction) => Promise<void>,
): Promise<void> => {
  if (stored !== incoming.digest)
    throw new Failure(
      'part_mismatch',
      `Part ${incoming.index} is stored with the SHA-256 ${stored}; parts never change. Cancel the upload to begin anew.`,
    )
  await verified(deps, blob, incoming, { running: null, write: async () => {}, finish: async () => stored })
  await deps.database.transaction(alongside)
}

/** Where a part goes to, and the hash of the whole that it goes on with. */
interface Destination {
  readonly running: TransferHash | null
  write(piece: Uint8Array): Promise<void>
  finish(): Promise<string>
}

/**
 * Hands every piece on and gives what finishing gave; throws 422 unless together they are the part that was announced.
 * It is finished while its last bytes are hashed: what turns out to be wrong then lies there as what broke off does,
 * uncounted.
 */
const verified = async (
  deps: AssemblyDeps,
  blob: PlannedBlob,
  incoming: IncomingPart,
  { running, write, finish }: Destination,
): Promise<string> => {
  const length = partLength(blob, incoming.index)
  const hash = deps.hashing.beginFor(length)
  try {
    let bytes = 0
    for await (const piece of incoming.pieces) {
      bytes += piece.byteLength
      if (bytes > length) break
      await hash.update(piece, running)
      await write(piece)
    }
    if (bytes !== length)
      throw new Failure(
        'size_mismatch',
        `Part ${incoming.index} has ${length} bytes; the body has ${bytes > length ? 'more' : bytes}.`,
      )
    const [digest, finished] = await Promise.allSettled([hash.digest(), finish()])
    if (digest.status === 'rejected') throw digest.reason
    if (digest.value !== incoming.digest)
      throw new Failure(
        'checksum_mismatch',
        `The body's SHA-256 is ${digest.value}; X-Content-SHA256 says ${incoming.digest}.`,
      )
    if (finished.status === 'rejected') throw finished.reason
    return finished.value
  } finally {
    hash.drop()
  }
}

/** The row of the assembly; begins it with the first part. Whoever dies in between leaves a place for the sweep. */
const assemblyOf = async (deps: AssemblyDeps, blob: PlannedBlob, plan: AssemblyPlan): Promise<AssembliesTable> => {
  const known = await findAssembly(deps.database.reader, blob.claimId)
  if (known !== undefined) return known
  const place = await deps.store.beginAssembly(newId(deps.clock.now()), plan)
  const row = await deps.database.transaction(
    async (tx) => {
      await insertAssembly(tx, {
        claim_id: blob.claimId,
        place,
        stored_bytes: 0,
        hashed_parts: 0,
        hash_state: null,
        verified: 0,
      })
      return findAssembly(tx, blob.claimId)
    },
    { durability: 'relaxed' },
  )
  // Whoever took our lease over has begun one meanwhile, or the upload has ended.
  if (row?.place !== place) await deps.store.discardStaged(place)
  if (row === undefined) throw partsLost(new AssemblyLost(`the assembly of ${blob.claimId} is gone`))
  return row
}

/** Stored parts in order, from an index on. */
export async function* storedParts(
  q: Queries,
  claimId: string,
  from = 0,
): AsyncGenerator<FinishedPart & { readonly digest: Sha256 }> {
  for await (const row of partRows(q, claimId, from))
    yield { index: row.part_index, receipt: row.receipt, digest: toSha256(row.sha256) }
}

/** The rows of parts or segments in order, a page at a time, from an index on. */
export async function* partRows(q: Queries, claimId: string, from: number): AsyncGenerator<AssemblyPartsTable> {
  for (let next = from; ; ) {
    const page = await partPage(q, claimId, next, partsPage)
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < partsPage) return
    next = last.part_index + 1
  }
}

/** True once bytes of it may lie in the store. */
export const isBegun = async (q: Queries, claimId: string): Promise<boolean> =>
  (await findAssembly(q, claimId)) !== undefined

export const hasParts = async (q: Queries, claimId: string): Promise<boolean> => (await countParts(q, claimId)) > 0

/** The first part that is not stored, or null when all are. */
export const firstMissingPart = async (q: Queries, claimId: string, plan: Plan): Promise<number | null> => {
  const expected = partCount(plan)
  if ((await countParts(q, claimId)) === expected) return null
  let next = 0
  for await (const { index } of storedParts(q, claimId)) {
    if (index !== next) return next
    next += 1
  }
  return next < expected ? next : null
}
