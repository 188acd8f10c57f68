import { createHash, hash } from 'node:crypto'
import type { Transaction } from '../../database/database.ts'
import type { AssembliesTable } from '../../database/tables/assemblies.ts'
import type { Sha256 } from '../../kernel/digest.ts'
import { Failure } from '../../kernel/failure.ts'
import { newId } from '../../kernel/ids.ts'
import { appendedSegmentBytes } from '../../kernel/limits/transfers.ts'
import { type BlobName, digestOfName } from '../../ports/blob-name.ts'
import { AssemblyLost, type GrowingBlob } from '../../ports/blob-store.ts'
import { type Content, type Room, roomOf } from '../claims/room.ts'
import { ingest } from '../ingest/ingest.ts'
import { isThereAlready } from './assembled.ts'
import { deleteAssembly, findAssembly, markAppendedVerified } from './assembly.queries.ts'
import { type AssemblyDeps, type Lease, partsLost, saidIfLost } from './assembly.ts'
import { segmentsOf } from './segments.ts'

type Commit<T> = (tx: Transaction, content: Content, now: string) => Promise<T>

/** What all of it is said to be. */
export interface SaidDigest {
  readonly algorithm: 'sha256' | 'sha512'
  /** Lowercase hexadecimal digits. */
  readonly hex: string
}

/**
 * Verifies that all that was appended has the digest that is said now, and publishes it with the caller's rows. 422
 * `checksum_mismatch` when it has another one: the upload is as before, and may be appended to or be ended. Once the
 * digest was right, only publishing is left; after a failure it is tried again, through any process.
 *
 * Order: verify -> remember that, which ends appending -> announce -> final name (I3) -> the transaction of
 * `Room.publish`. Both are durable before the name is given: from then on what was appended may be gone.
 */
export const publishAppended = async <T>(
  deps: AssemblyDeps,
  { claimId, said }: { readonly claimId: string; readonly said: SaidDigest },
  lease: Lease,
  commit: Commit<T>,
): Promise<T> => {
  const room = await roomOf(deps, claimId)
  if (room.name !== null && said.algorithm === 'sha256' && digestOfName(room.name) !== said.hex)
    throw otherDigest(digestOfName(room.name), said)
  const row = await findAssembly(deps.database.reader, claimId)
  if (row === undefined || row.stored_bytes === 0) return publishNothing(deps, room, said, row, commit)
  const growing = deps.store.growing(row.place)
  const found = await digestOf(deps, row, growing, lease)
  // What was never seen to be what was declared may be anything. What was, and was not announced, got no name.
  if (found instanceof AssemblyLost && (row.verified === 0 || room.name === null)) throw partsLost(found)
  const digest = await verifiedDigest(deps, row, growing, { found, announced: room.name }, said, lease)
  deps.reach('publish.staged')
  lease.assertHeld()
  const bytes = row.stored_bytes
  // Our lease may have ended since. Whoever has it has appended, and we are wrong; or is refused from now on.
  if (row.verified === 0) await endAppending(deps, claimId, bytes)
  lease.assertHeld()
  const result = await room.publish(
    { digest, bytes },
    async (name) => {
      lease.assertHeld()
      const lost = found instanceof AssemblyLost ? found : await giveName(deps, row, growing, name)
      if (lost === null) return
      if (!(await isThereAlready(deps, { name, bytes }, digest, lease, () => growing.settleName(name))))
        throw partsLost(lost)
      await deps.store.discardStaged(row.place)
    },
    async (tx, content, now) => {
      await deleteAssembly(tx, claimId)
      return commit(tx, content, now)
    },
  )
  deps.hashes.forget(claimId)
  return result
}

const endAppending = async ({ database }: AssemblyDeps, claimId: string, bytes: number): Promise<void> => {
  const marked = await database.transaction((tx) => markAppendedVerified(tx, { claimId, bytes }), {
    durability: 'relaxed',
  })
  if (!marked) throw new Failure('busy', 'Another request has appended to this upload.', { retryAfterSeconds: 5 })
}

const otherDigest = (found: string, { algorithm, hex }: SaidDigest): Failure =>
  new Failure(
    'checksum_mismatch',
    `What was sent has the digest ${algorithm}:${found}; ${algorithm}:${hex} was declared.`,
  )

interface Found {
  readonly found: Sha256 | AssemblyLost
  readonly announced: BlobName | null
}

/** The SHA-256 of what was said, once that is proven to be so. Of what was lost only what was announced is known. */
const verifiedDigest = async (
  deps: AssemblyDeps,
  row: AssembliesTable,
  growing: GrowingBlob,
  { found, announced }: Found,
  said: SaidDigest,
  lease: Lease,
): Promise<Sha256> => {
  if (found instanceof AssemblyLost) {
    if (announced === null || said.algorithm !== 'sha256') throw partsLost(found)
    return digestOfName(announced)
  }
  const is =
    said.algorithm === 'sha256' ? found : await otherSum(deps, row, growing, said.algorithm, lease).catch(saidIfLost)
  if (is !== said.hex) throw otherDigest(is, said)
  return found
}

/** The digest of all that is stored by an algorithm that no running hash knows: it is read. */
const otherSum = async (
  { database }: AssemblyDeps,
  { claim_id, stored_bytes }: AssembliesTable,
  growing: GrowingBlob,
  algorithm: string,
  lease: Lease,
): Promise<string> => {
  const sum = createHash(algorithm)
  for await (const segment of segmentsOf(database.reader, claim_id, stored_bytes))
    for await (const piece of await growing.readSegment(segment)) {
      lease.assertHeld()
      sum.update(piece)
    }
  return sum.digest('hex')
}

/** Null when it is done. Only of what was verified. */
const giveName = async (
  { database }: AssemblyDeps,
  row: AssembliesTable,
  growing: GrowingBlob,
  name: BlobName,
): Promise<AssemblyLost | null> => {
  const { claim_id, stored_bytes } = row
  try {
    await growing.publish(name, stored_bytes, segmentsOf(database.reader, claim_id, stored_bytes))
    return null
  } catch (error) {
    if (error instanceof AssemblyLost) return error
    throw error
  }
}

/** The digest of all that is stored, or that it is lost. Reads what no running hash has seen. */
const digestOf = async (
  deps: AssemblyDeps,
  { claim_id, stored_bytes, hash_state }: AssembliesTable,
  growing: GrowingBlob,
  lease: Lease,
): Promise<Sha256 | AssemblyLost> => {
  const seen = deps.hashes.resume(claim_id, { parts: stored_bytes, state: hash_state })
  try {
    const from = Math.floor(seen.parts / appendedSegmentBytes)
    let skipped = seen.parts % appendedSegmentBytes
    if (seen.parts < stored_bytes)
      for await (const segment of segmentsOf(deps.database.reader, claim_id, stored_bytes, from))
        for await (const piece of await growing.readSegment(segment)) {
          lease.assertHeld()
          const known = Math.min(skipped, piece.byteLength)
          skipped -= known
          await seen.hash.update(piece.subarray(known))
        }
    return await seen.hash.digest()
  } catch (error) {
    if (error instanceof AssemblyLost) return error
    throw error
  } finally {
    seen.hash.drop()
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** A file of no bytes: there is nothing to put together. */
const publishNothing = <T>(
  deps: AssemblyDeps,
  room: Room,
  said: SaidDigest,
  row: AssembliesTable | undefined,
  commit: Commit<T>,
): Promise<T> => {
  const sum = hash(said.algorithm, '')
  if (sum !== said.hex) throw otherDigest(sum, said)
  return ingest(
    deps,
    { room, stagingId: newId(deps.clock.now()), pieces: nothing(), expected: { bytes: 0, digest: null }, maxBytes: 0 },
    {
      commit: async (tx, content, now) => {
        if (row !== undefined) await deleteAssembly(tx, room.id)
        return commit(tx, content, now)
      },
    },
  )
}
