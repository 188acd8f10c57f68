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
  type AssemblyParts,
  type PlannedBlob,
  partsLost,
  planOf,
  savedHash,
  storedParts,
  type Turn,
} from './assembly.ts'

/** Bytes that completing may have to read: what no running hash has seen, or all of what a try that broke off may have published. */
export const bytesToRead = async (parts: AssemblyParts, blob: PlannedBlob): Promise<number> => {
  const row = await findAssembly(parts.database.reader, blob.claimId)
  if (row === undefined) return 0
  if (row.verified === 1) return blob.bytes
  const hashed = parts.hashes.hashedParts(blob.claimId, savedHash(row))
  return Math.max(0, blob.bytes - hashed * blob.partBytes)
}

/**
 * Verifies that all parts together are the blob, and publishes it with the caller's rows. 422 `checksum_mismatch` when
 * they are not: their bytes are what was sent, so that trying again changes nothing.
 */
export const publishAssembly = async <T>(
  parts: AssemblyParts,
  blob: PlannedBlob,
  turn: Turn,
  commit: (tx: Transaction, content: Content, now: string) => Promise<T>,
): Promise<T> => {
  const row = await findAssembly(parts.database.reader, blob.claimId)
  if (row === undefined) throw partsLost(new AssemblyLost(`upload ${blob.claimId} has no assembly`))
  const plan = await planOf(parts, blob, row)
  const assembly = parts.store.assembly(row.place, plan)
  const digest = await digestOf(parts, blob, row, assembly, turn)
  // What was never seen to be what was declared may be anything, whatever else bears that name.
  if (digest instanceof AssemblyLost && row.verified === 0) throw partsLost(digest)
  if (!(digest instanceof AssemblyLost) && digest !== blob.digest)
    throw new Failure(
      'checksum_mismatch',
      `The parts together have the SHA-256 ${digest}; ${blob.digest} was declared. Cancel the upload and send it anew.`,
    )
  if (row.verified === 0)
    // Publishing waits until this is durable: from then on the parts may be gone.
    await parts.database.transaction((tx) => markVerified(tx, blob.claimId), { durability: 'relaxed' })
  parts.reach('publish.staged')
  turn.assertHeld()
  const room = await roomOf(parts, blob.claimId)
  const result = await room.publish(
    { digest: blob.digest, bytes: blob.bytes },
    async () => {
      const lost = digest instanceof AssemblyLost ? digest : await putTogether(parts, blob, assembly)
      if (lost === null) return
      if (!(await isThereAlready(parts, plan, blob.digest, turn, () => assembly.settleName()))) throw partsLost(lost)
      // Others were sooner with the same bytes, which are durable and announced: whatever breaks off now finds them there again.
      await parts.store.discardStaged(row.place)
    },
    async (tx, content, now) => {
      await deleteAssembly(tx, blob.claimId)
      return commit(tx, content, now)
    },
  )
  parts.hashes.forget(blob.claimId)
  return result
}

/** Null when it is done. Only of parts that were verified. */
const putTogether = async (
  parts: AssemblyParts,
  blob: PlannedBlob,
  assembly: Assembly,
): Promise<AssemblyLost | null> => {
  try {
    await assembly.publish(storedParts(parts.database.reader, blob.claimId))
    return null
  } catch (error) {
    if (error instanceof AssemblyLost) return error
    throw error
  }
}

/**
 * Parts are gone where somebody gave the blob its final name and died. But they may be gone for other reasons, and others
 * write to that name: it counts once what bears it was read and has the digest.
 */
export const isThereAlready = async (
  parts: AssemblyParts,
  { name, bytes }: Pick<AssemblyPlan, 'name' | 'bytes'>,
  expected: Sha256,
  turn: Turn,
  settleName: () => Promise<void>,
): Promise<boolean> => {
  // Whoever published it had verified it, and its name was durable before any row said so (I1, I3).
  if (await isStoredAs(parts.database.reader, expected, generationOf(name))) return true
  if ((await parts.store.size(name)) !== bytes) return false
  const hash = parts.hashing.beginFor(bytes)
  try {
    for await (const piece of await parts.store.open(name, { start: 0, end: bytes }, bytes)) {
      turn.assertHeld()
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
  parts: AssemblyParts,
  blob: PlannedBlob,
  row: AssembliesTable,
  assembly: Assembly,
  turn: Turn,
): Promise<Sha256 | AssemblyLost> => {
  const seen = parts.hashes.resume(blob.claimId, savedHash(row))
  try {
    for await (const part of storedParts(parts.database.reader, blob.claimId, seen.parts))
      for await (const piece of await assembly.readPart(part)) {
        turn.assertHeld()
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
