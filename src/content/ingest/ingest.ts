import type { Transaction } from '../../database/database.ts'
import type { Sha256 } from '../../kernel/digest.ts'
import { Failure } from '../../kernel/failure.ts'
import { roomLookEveryBytes, undeclaredReservationBytes } from '../../kernel/limits/transfers.ts'
import type { BlobName } from '../../ports/blob-name.ts'
import type { BlobStore, StagedBlob } from '../../ports/blob-store.ts'
import { adjust, announcedName, identify } from '../claims/claims.ts'
import type { Hashing, TransferHash } from '../hashing/hashing.ts'
import type { FreeSpace } from './free-space.ts'
import { type Content, type PublishingParts, publishContent } from './publishing.ts'

/**
 * The one door for bytes into the store, whatever the protocol.
 *
 * Order: reserve (the caller, in its transaction) -> stage while hashing -> verify -> announce the digest -> make durable
 * under the final name -> one transaction: blob, claim, counters and the caller's rows with their journal.
 *
 * A crash leaves either nothing visible or all of it: before the last transaction there is a pending claim (which lapses
 * and is released), perhaps a staging place (found and removed by its id) and perhaps bytes that no row calls stored
 * (reclaimed, because their claim was released or they were queued when publishing failed). After it, everything the
 * answer promises is durable (I1, I3, I4).
 */
export interface IngestParts extends PublishingParts {
  readonly store: BlobStore
  readonly freeSpace: FreeSpace
  readonly hashing: Hashing
  readonly capacityBytes: number
}

export interface Transfer {
  /** Id of the reservation made with `claims.reserve`; also names the staging place. */
  readonly claimId: string
  /** Differs between attempts at the same reservation, so that a dead attempt's place is never written again. */
  readonly stagingId: string
  readonly pieces: AsyncIterable<Uint8Array>
  /** What the bytes must turn out to be, as far as it was said beforehand. */
  readonly expected: { readonly bytes: number | null; readonly digest: Sha256 | null }
  /** What was reserved; grows for bodies of unknown length. */
  readonly reservedBytes: number
  /** Runs after each growth of the reservation, in its transaction; throws 507 where it may not be promised. */
  readonly allowGrowth?: () => Promise<(tx: Transaction) => Promise<void>>
  readonly maxBytes: number
}

interface Finish<T> {
  /** Looks at the verified content before anything is stored for good. A value ends the transfer there. */
  readonly early?: (content: Content) => Promise<T | null>
  /** Writes the caller's rows and journal in the transaction that publishes the claim. Does SQL and nothing else (I5). */
  readonly commit: (tx: Transaction, content: Content, now: string) => Promise<T>
}

/**
 * Takes a body in. Resolves when everything is durable. Throws 422 `size_mismatch` or `checksum_mismatch`, 413
 * `body_too_large`, 507 `storage_quota` or `insufficient_space`, or what the body throws; then nothing is left but the claim, which is the
 * caller's to release or to keep for another try.
 */
export const ingest = async <T>(parts: IngestParts, transfer: Transfer, finish: Finish<T>): Promise<T> => {
  const { bytes, digest } = transfer.expected
  const known = digest === null ? null : await announcedName(parts.database.reader, transfer.claimId)
  // Publishing waits until the claim is durable; where it has the digest already, that goes on while the body comes.
  if (known !== null) parts.database.settled().catch(() => {})
  const staged = await parts.store.stage(transfer.stagingId, { name: known, bytes })
  try {
    const content = await receive(parts, transfer, staged)
    verify(content, transfer.expected)
    parts.reach('publish.staged')
    const early = await finish.early?.(content)
    if (early !== null && early !== undefined) return early
    const name = known ?? (await announce(parts, transfer.claimId, content))
    return await publishContent(
      parts,
      transfer.claimId,
      { ...content, name },
      () => staged.publish(name),
      finish.commit,
    )
  } finally {
    await staged.discard()
  }
}

const receive = async (parts: IngestParts, transfer: Transfer, staged: StagedBlob): Promise<Content> => {
  const hash = parts.hashing.beginFor(transfer.expected.bytes)
  try {
    return await hashed(parts, transfer, staged, hash)
  } finally {
    hash.drop()
  }
}

const hashed = async (
  parts: IngestParts,
  transfer: Transfer,
  staged: StagedBlob,
  hash: TransferHash,
): Promise<Content> => {
  const limit = transfer.expected.bytes ?? transfer.maxBytes
  let { reservedBytes } = transfer
  let bytes = 0
  let roomSeenAtBytes = 0
  for await (const piece of transfer.pieces) {
    bytes += piece.byteLength
    if (bytes > limit) throw tooLong(transfer)
    // There was room for this file when it began; others that came in meanwhile had room then, too.
    if (bytes - roomSeenAtBytes >= roomLookEveryBytes) {
      await parts.freeSpace.refuseUnlessRoomFor(0)
      roomSeenAtBytes = bytes
    }
    if (bytes > reservedBytes) reservedBytes = await reserveMore(parts, transfer, bytes, reservedBytes)
    await hash.update(piece)
    await staged.write(piece)
  }
  return { digest: await hash.digest(), bytes }
}

/** Reserves ahead of a body of unknown length, and near the quota no more than it takes. What is reserved now. */
const reserveMore = async (
  parts: IngestParts,
  transfer: Transfer,
  bytes: number,
  reservedBytes: number,
): Promise<number> => {
  const ahead = Math.min(Math.max(reservedBytes * 2, bytes, undeclaredReservationBytes), transfer.maxBytes)
  await parts.freeSpace.refuseUnlessRoomFor(ahead - bytes)
  const allow = await transfer.allowGrowth?.()
  const reserve = (wanted: number): Promise<void> =>
    parts.database.transaction(
      async (tx) => {
        await adjust(tx, transfer.claimId, wanted, parts.capacityBytes)
        if (allow !== undefined) await allow(tx)
      },
      { durability: 'relaxed' },
    )
  try {
    await reserve(ahead)
    return ahead
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'storage_quota') throw error
    await reserve(bytes)
    return bytes
  }
}

const tooLong = (transfer: Transfer): Failure =>
  transfer.expected.bytes !== null
    ? new Failure('size_mismatch', `The body is longer than the ${transfer.expected.bytes} bytes that were declared.`)
    : new Failure('body_too_large', `A file may have at most ${transfer.maxBytes} bytes (SVC_MAX_OBJECT_BYTES).`)

const verify = (content: Content, expected: Transfer['expected']): void => {
  if (expected.bytes !== null && content.bytes !== expected.bytes)
    throw new Failure('size_mismatch', `The body has ${content.bytes} bytes; ${expected.bytes} were declared.`)
  if (expected.digest !== null && content.digest !== expected.digest)
    throw new Failure('checksum_mismatch', `The body's SHA-256 is ${content.digest}; ${expected.digest} was declared.`)
}

const announce = (parts: IngestParts, claimId: string, { digest, bytes }: Content): Promise<BlobName> =>
  parts.database.transaction(
    (tx) => identify(tx, claimId, digest, bytes, parts.capacityBytes),
    // Publishing waits for it.
    { durability: 'relaxed' },
  )
