import { hash } from 'node:crypto'
import type { Database, Transaction } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { type Sha256, toSha256 } from '../../kernel/digest.ts'
import { Failure } from '../../kernel/failure.ts'
import type { ReachFaultPoint } from '../../kernel/fault-points.ts'
import { roomLookEveryBytes } from '../../kernel/limits/transfers.ts'
import type { BlobStore, StagedBlob } from '../../ports/blob-store.ts'
import { putBack, putBackInline } from '../claims/put-back.ts'
import type { Content } from '../claims/room.ts'
import type { Hashing, TransferHash } from '../hashing/hashing.ts'
import type { FreeSpace } from './free-space.ts'
import { growAhead, type UndeclaredBytes } from './growing-ahead.ts'
import type { SmallBodies } from './small-bodies.ts'

/**
 * The one door for bytes into the store, whatever the protocol.
 *
 * What is small is kept in the database: it is taken into memory, verified, and stored by the transaction that
 * publishes it. For all else:
 *
 * Order: set room aside (the caller) -> stage while hashing -> verify -> and what the room does: announce the digest,
 * make durable under the final name, one transaction with blob, claim, counters and the caller's rows with their
 * journal.
 *
 * A crash leaves either nothing visible or all of it: before the last transaction there is a pending claim (which
 * lapses and is released), perhaps a staging place (found and removed by its id) and perhaps bytes that no row calls
 * stored (reclaimed, because their claim was released or they were queued when publishing failed). After it, everything
 * the answer promises is durable (I1, I3, I4).
 */
export interface IngestDeps {
  readonly database: Database
  readonly clock: Clock
  readonly reach: ReachFaultPoint
  readonly store: BlobStore
  readonly freeSpace: FreeSpace
  readonly hashing: Hashing
  readonly smallBodies: SmallBodies
}

export interface Transfer extends UndeclaredBytes {
  /** Differs between attempts at the same reservation, so that a dead attempt's place is never written again. */
  readonly stagingId: string
  readonly pieces: AsyncIterable<Uint8Array>
  /** What the bytes must turn out to be, as far as it was said beforehand. */
  readonly expected: { readonly bytes: number | null; readonly digest: Sha256 | null }
  /** What they are, where all of them were here and hashed before. */
  readonly verified?: Content | undefined
}

interface Finish<T> {
  /**
   * Looks at the verified content before anything is stored for good. A value ends the transfer there: it is there
   * already, and what the store has lost of it is put back.
   */
  readonly early?: (content: Content) => Promise<T | null>
  /**
   * Writes the caller's rows and journal in the transaction that publishes the claim. Does SQL and nothing else (I5).
   */
  readonly commit: (tx: Transaction, content: Content, now: string) => Promise<T>
}

/**
 * Takes a body in. Resolves when everything is durable. Throws 422 `size_mismatch` or `checksum_mismatch`, 413
 * `body_too_large`, 507 `storage_quota` or `insufficient_space`, or what the body throws; then nothing is left but the
 * room, which is the caller's to abandon or to keep for another try.
 */
export const ingest = <T>(deps: IngestDeps, transfer: Transfer, finish: Finish<T>): Promise<T> =>
  deps.smallBodies.gather(transfer.expected.bytes, transfer.pieces, async ({ whole, pieces }) => {
    if (pieces !== null) return await intoStore(deps, { ...transfer, pieces }, finish)
    const content = verified(deps, whole, transfer.expected)
    const early = await finish.early?.(content)
    if (early !== null && early !== undefined) {
      await putBackInline(deps, { digest: content.digest, whole })
      return early
    }
    return await transfer.room.publishInline({ digest: content.digest, whole }, finish.commit)
  })

/** What a body is that came whole. 422 `size_mismatch` or `checksum_mismatch`. */
export const verified = (
  { reach }: Pick<IngestDeps, 'reach'>,
  whole: Uint8Array,
  expected: Transfer['expected'],
): Content => {
  const content = { digest: toSha256(hash('sha256', whole)), bytes: whole.byteLength }
  verify(content, expected)
  reach('publish.staged')
  return content
}

const intoStore = async <T>(deps: IngestDeps, transfer: Transfer, finish: Finish<T>): Promise<T> => {
  const { room, expected } = transfer
  // Publishing waits until the claim is durable; where it has the digest already, that goes on while the body comes.
  if (room.name !== null) deps.database.settled().catch(() => {})
  const staged = await deps.store.stage(transfer.stagingId, { name: room.name, bytes: expected.bytes })
  try {
    const content = await receive(deps, transfer, staged)
    verify(content, expected)
    deps.reach('publish.staged')
    const early = await finish.early?.(content)
    if (early !== null && early !== undefined) {
      await putBack(deps, content, (name) => staged.publish(name))
      return early
    }
    return await room.publish(content, (name) => staged.publish(name), finish.commit)
  } finally {
    await staged.discard()
  }
}

/**
 * Takes a body in of which nothing is to be kept: it is hashed and verified, and needs no room. Throws as
 * {@link ingest}.
 */
export const verifyAlone = async (
  deps: Pick<IngestDeps, 'hashing' | 'reach'>,
  body: Pick<Transfer, 'pieces' | 'expected' | 'maxBytes'>,
): Promise<Content> => {
  const running = deps.hashing.beginFor(body.expected.bytes)
  try {
    let bytes = 0
    for await (const piece of body.pieces) {
      bytes += piece.byteLength
      if (bytes > (body.expected.bytes ?? body.maxBytes)) throw tooLong(body)
      await running.update(piece)
    }
    const content = { digest: await running.digest(), bytes }
    verify(content, body.expected)
    deps.reach('publish.staged')
    return content
  } finally {
    running.drop()
  }
}

const receive = async (deps: IngestDeps, transfer: Transfer, staged: StagedBlob): Promise<Content> => {
  if (transfer.verified !== undefined) {
    for await (const piece of transfer.pieces) await staged.write(piece)
    return transfer.verified
  }
  const running = deps.hashing.beginFor(transfer.expected.bytes)
  try {
    return await hashed(deps, transfer, staged, running)
  } finally {
    running.drop()
  }
}

const hashed = async (
  deps: IngestDeps,
  transfer: Transfer,
  staged: StagedBlob,
  running: TransferHash,
): Promise<Content> => {
  const limit = transfer.expected.bytes ?? transfer.maxBytes
  let bytes = 0
  let roomSeenAtBytes = 0
  for await (const piece of transfer.pieces) {
    bytes += piece.byteLength
    if (bytes > limit) throw tooLong(transfer)
    // There was room for this file when it began; others that came in meanwhile had room then, too.
    if (bytes - roomSeenAtBytes >= roomLookEveryBytes) {
      await deps.freeSpace.refuseUnlessRoomFor(0)
      roomSeenAtBytes = bytes
    }
    if (bytes > transfer.room.bytes) await growAhead(deps, transfer, bytes)
    await running.update(piece)
    await staged.write(piece)
  }
  return { digest: await running.digest(), bytes }
}

const tooLong = (transfer: Pick<Transfer, 'expected' | 'maxBytes'>): Failure =>
  transfer.expected.bytes !== null
    ? new Failure('size_mismatch', `The body is longer than the ${transfer.expected.bytes} bytes that were declared.`)
    : new Failure('body_too_large', `A file may have at most ${transfer.maxBytes} bytes (SVC_MAX_OBJECT_BYTES).`)

const verify = (content: Content, expected: Transfer['expected']): void => {
  if (expected.bytes !== null && content.bytes !== expected.bytes)
    throw new Failure('size_mismatch', `The body has ${content.bytes} bytes; ${expected.bytes} were declared.`)
  if (expected.digest !== null && content.digest !== expected.digest)
    throw new Failure('checksum_mismatch', `The body's SHA-256 is ${content.digest}; ${expected.digest} was declared.`)
}
