import type { Transaction } from '../../database/database.ts'
import type { AssembliesTable } from '../../database/tables/assemblies.ts'
import type { Sha256 } from '../../kernel/digest.ts'
import { Failure } from '../../kernel/failure.ts'
import { generationOf } from '../../ports/blob-name.ts'
import { type Assembly, AssemblyLost, type AssemblyPlan, BlobMissing } from '../../ports/blob-store.ts'
import { isStoredAs } from '../claims/claims.queries.ts'
import { type Content, roomOf } from '../claims/room.ts'
import { deleteAssembly, findAssembly, markVerified } from './assembly.queries.ts'
import {
  type AssemblyDeps,
  type Lease,
  type PlannedBlob,
  partsLost,
  planOf,
  savedHash,
  storedParts,
} from './assembly.ts'

/**
 * Bytes that completing may have to read: what no running hash has seen, or all of what a try that broke off may have
 * published.
 */
export const bytesToRead = async (deps: AssemblyDeps, blob: PlannedBlob): Promise<number> => {
  const row = await findAssembly(deps.database.reader, blob.claimId)
  if (row === undefined) return 0
  if (row.verified === 1) return blob.bytes
  const hashed = deps.hashes.hashedParts(blob.claimId, savedHash(row))
  return Math.max(0, blob.bytes - hashed * blob.partBytes)
}

/**
 * Verifies that all parts together are the blob, and publishes it with the caller's rows. 422 `checksum_mismatch` when
 * they are not: their bytes are what was sent, so that trying again changes nothing.
 */
export const publishAssembly = async <T>(
  deps: AssemblyDeps,
  blob: PlannedBlob,
  lease: Lease,
  commit: (tx: Transaction, content: Content, now: string) => Promise<T>,
): Promise<T> => {
  const row = await findAssembly(deps.database.reader, blob.claimId)
  if (row === undefined) throw partsLost(new AssemblyLost(`upload ${blob.claimId} has no assembly`))
  const plan = await planOf(deps, blob, row)
  const assembly = deps.store.assembly(row.place, plan)
  const digest = await digestOf(deps, blob, row, assembly, lease)
  // What was never seen to be what was declared may be anything, whatever else bears that name.
  if (digest instanceof AssemblyLost && row.verified === 0) throw partsLost(digest)
  if (!(digest instanceof AssemblyLost) && digest !== blob.digest)
    throw new Failure(
      'checksum_mismatch',
      `The parts together have the SHA-256 ${digest}; ${blob.digest} was declared. Cancel the upload and send it anew.`,
    )
  if (row.verified === 0)
    // Publishing waits until this is durable: from then on the parts may be gone.
    await deps.database.transaction((tx) => markVerified(tx, blob.claimId), { durability: 'relaxed' })
  deps.reach('publish.staged')
  lease.assertHeld()
  const room = await roomOf(deps, blob.claimId)
  const result = await room.publish(
    { digest: blob.digest, bytes: blob.bytes },
    async () => {
      const lost = digest instanceof AssemblyLost ? digest : await putTogether(deps, blob, assembly)
      if (lost === null) return
      if (!(await isThereAlready(deps, plan, blob.digest, lease, () => assembly.settleName()))) throw partsLost(lost)
      // Others were sooner with the same bytes, which are durable and announced: whatever breaks off now finds them
      // there again.
      await deps.store.discardStaged(row.place)
    },
    async (tx, content, now) => {
      await deleteAssembly(tx, blob.claimId)
      return commit(tx, content, now)
    },
  )
  deps.hashes.forget(blob.claimId)
  return result
}

/** Null when it is done. Only of parts that were verified. */
const putTogether = async (deps: AssemblyDeps, blob: PlannedBlob, assembly: Assembly): Promise<AssemblyLost | null> => {
  try {
    await assembly.publish(storedParts(deps.database.reader, blob.claimId))
    return null
  } catch (error) {
    if (error instanceof AssemblyLost) return error
    throw error
  }
}

/**
 * Parts are gone where somebody gave the blob its final name and died. But they may be gone for other reasons, and
 * others write to that name: it counts once what bears it was read and has the digest. What rows call stored counts by
 * its length, as everywhere where bytes are sent again (`claims/put-back.ts`).
 */
export const isThereAlready = async (
  deps: AssemblyDeps,
  { name, bytes }: Pick<AssemblyPlan, 'name' | 'bytes'>,
  expected: Sha256,
  lease: Lease,
  settleName: () => Promise<void>,
): Promise<boolean> => {
  if ((await deps.store.size(name)) !== bytes) return false
  // Whoever published it had verified it, and its name was durable before any row said so (I1, I3).
  if (await isStoredAs(deps.database.reader, expected, generationOf(name))) return true
  const hash = deps.hashing.beginFor(bytes)
  try {
    for await (const piece of await deps.store.open(name, { start: 0, end: bytes }, bytes)) {
      lease.assertHeld()
      await hash.update(piece)
    }
    if ((await hash.digest()) !== expected) return false
    await settleName()
    return true
  } catch (error) {
    if (error instanceof BlobMissing) return false
    throw error
  } finally {
    hash.drop()
  }
}

/** The digest of all parts, or that they are lost. */
const digestOf = async (
  deps: AssemblyDeps,
  blob: PlannedBlob,
  row: AssembliesTable,
  assembly: Assembly,
  lease: Lease,
): Promise<Sha256 | AssemblyLost> => {
  const seen = deps.hashes.resume(blob.claimId, savedHash(row))
  try {
    for await (const part of storedParts(deps.database.reader, blob.claimId, seen.parts))
      for await (const piece of await assembly.readPart(part)) {
        lease.assertHeld()
        await seen.hash.update(piece)
      }
    return await seen.hash.digest()
  } catch (error) {
    if (error instanceof AssemblyLost) return error
    throw error
  } finally {
    seen.hash.drop()
  }
}
