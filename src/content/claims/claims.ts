import { moveCounter } from '../../database/counters.queries.ts'
import type { Queries, Transaction } from '../../database/database.ts'
import type { ClaimsTable, HolderKind } from '../../database/tables/claims.ts'
import { type Sha256, toSha256 } from '../../kernel/digest.ts'
import { Failure, notFound } from '../../kernel/failure.ts'
import { aheadPart } from '../../kernel/limits/transfers.ts'
import { type BlobName, blobName, digestOfName, generationOf } from '../../ports/blob-name.ts'
import {
  claimedBytes,
  deleteClaim,
  expectBlob,
  findClaimedBlob,
  insertCandidate,
  insertClaim,
  insertClaims,
  lockClaim,
  markStored,
  moveRepositoryBytes,
  setBeside,
  setRepositoryBytes,
  storedAmong,
  updateClaim,
} from './claims.queries.ts'
import { keepInline } from './kept-inline.ts'

/**
 * Who holds which bytes, whatever the format. What kind of thing a holder is, a claim keeps for those who ask; nothing
 * here depends on it.
 *
 * A claim begins as a reservation (`pending`), becomes `live` when its bytes are durable, `retired` when its holder is
 * deleted or cancelled, and goes when the grace period is over. Every step moves the counters of the repository and of
 * the server in the same transaction (I4), so that quota, usage, reclaim and doctor need to read nothing else.
 *
 * Locks are taken in the order that stands in `database/locks.ts`.
 */
type ClaimState = ClaimsTable['state']

/**
 * Announces bytes before they get their final name, and answers it: it is theirs for as long as anybody claims them.
 * The lock of the blob's row makes this and reclaim exclude each other: either reclaim sees the claim and leaves the
 * row alone, or the row is gone and we make another, with another name for the same bytes.
 */
const announce = async (tx: Transaction, digest: Sha256, bytes: number): Promise<BlobName> =>
  blobName(digest, (await expectBlob(tx, digest, bytes)).generation)

/** What whoever comes with bytes hears once their claim is no longer pending. */
export const ended = (): Failure => new Failure('upload_state', 'The reservation of this upload has ended.')

/** What the bytes of a pending claim will be called, once their digest is announced. */
export const announcedName = async (q: Queries, id: string): Promise<BlobName> => {
  const blob = await findClaimedBlob(q, id)
  if (blob === undefined) throw ended()
  return blobName(toSha256(blob.sha256), blob.generation)
}

/** All that a claim counts for. */
const weightOf = ({ size, beside }: ClaimsTable): number => size + beside

const deltas = (from: ClaimState | null, to: ClaimState | null, fromSize: number, toSize: number) => {
  const by = { live: 0, pending: 0, retired: 0 }
  if (from !== null) by[from] -= fromSize
  if (to !== null) by[to] += toSize
  return { published: by.live, pending: by.pending, retired: by.retired }
}

/**
 * Moves both levels of counters, and answers what is left to reserve; 0 where nothing grew or shrank. Growing beyond
 * the quota or the capacity is refused with 507, before anything is written.
 */
const count = async (
  tx: Transaction,
  repository: string,
  change: ReturnType<typeof deltas>,
  capacityBytes: number,
): Promise<number> => {
  const total = change.published + change.pending + change.retired
  const moved = await moveRepositoryBytes(tx, repository, change)
  if (moved === undefined) throw notFound('repository')
  if (total === 0) return 0
  const { reservedBytes, quotaBytes } = moved
  if (total > 0 && quotaBytes !== null && reservedBytes > quotaBytes)
    throw new Failure(
      'storage_quota',
      `The repository's quota of ${quotaBytes} bytes does not suffice for ${total} more (${reservedBytes - total} are reserved).`,
    )
  const reserved = await moveCounter(tx, 'reserved_bytes', total)
  if (total > 0 && reserved > capacityBytes)
    throw new Failure(
      'storage_quota',
      `The server's capacity of ${capacityBytes} bytes does not suffice for ${total} more (${reserved - total} are reserved).`,
    )
  return Math.min(capacityBytes - reserved, (quotaBytes ?? Number.POSITIVE_INFINITY) - reservedBytes)
}

/** Verified bytes that are all in memory. */
export interface WholeContent {
  readonly digest: Sha256
  readonly whole: Uint8Array
}

export interface Reservation {
  readonly id: string
  readonly repository: string
  readonly holder: HolderKind
  /** Null until the bytes are known. */
  readonly digest: Sha256 | null
  readonly bytes: number
}

/**
 * Sets room aside before a byte arrives. 507 `storage_quota` when there is none, 404 when there is no repository.
 * Answers what the bytes will be called, where their digest is known.
 */
export const reserve = async (
  tx: Transaction,
  wanted: Reservation,
  capacityBytes: number,
): Promise<BlobName | null> => {
  const { id, repository, holder, digest, bytes } = wanted
  await count(tx, repository, deltas(null, 'pending', 0, bytes), capacityBytes)
  await insertClaim(tx, {
    id,
    repository,
    holder,
    sha256: digest,
    size: bytes,
    state: 'pending',
    retired_at: null,
  })
  return digest === null ? null : announce(tx, digest, bytes)
}

const pending = async (tx: Transaction, id: string): Promise<ClaimsTable> => {
  const claim = await lockClaim(tx, id)
  if (claim?.state !== 'pending') throw ended()
  return claim
}

/**
 * Says how many bytes a pending claim turned out to reserve, and answers that. What is wanted ahead of them it gets as
 * far as it is a small part of what is left.
 */
export const adjust = async (
  tx: Transaction,
  id: string,
  { bytes, ahead }: { readonly bytes: number; readonly ahead: number },
  capacityBytes: number,
): Promise<number> => {
  const claim = await pending(tx, id)
  const left = await resize(tx, claim, null, bytes, capacityBytes)
  const more = Math.max(0, Math.min(ahead, Math.floor(left / aheadPart)))
  if (more > 0) await resize(tx, { ...claim, size: bytes }, null, bytes + more, capacityBytes)
  return bytes + more
}

/**
 * Says what a pending claim turned out to be, before the bytes get their final name, and answers that. From then on
 * they are not reclaimed.
 */
export const identify = async (
  tx: Transaction,
  id: string,
  digest: Sha256,
  bytes: number,
  capacityBytes: number,
): Promise<BlobName> => {
  await resize(tx, await pending(tx, id), digest, bytes, capacityBytes)
  return announce(tx, digest, bytes)
}

const resize = async (
  tx: Transaction,
  claim: ClaimsTable,
  digest: Sha256 | null,
  bytes: number,
  capacityBytes: number,
): Promise<number> => {
  const left = await count(tx, claim.repository, deltas('pending', 'pending', claim.size, bytes), capacityBytes)
  await updateClaim(tx, { ...claim, sha256: digest ?? claim.sha256, size: bytes })
  return left
}

/** The bytes are durable: the reservation becomes a holder, and the blob is known (I1). */
export const publish = async (
  tx: Transaction,
  id: string,
  { name, bytes }: { readonly name: BlobName; readonly bytes: number },
  now: string,
): Promise<void> => {
  const digest = digestOfName(name)
  const claim = await pending(tx, id)
  await becomeLive(tx, claim, digest, bytes)
  if (!(await markStored(tx, { digest, generation: generationOf(name), size: bytes, now })))
    throw new Error(
      `blob ${digest} is claimed by ${id} and is not called ${name}, or is stored with other than ${bytes} bytes`,
    )
}

/** The same where the bytes come with the transaction, and are stored by it. */
export const publishInline = async (
  tx: Transaction,
  id: string,
  { digest, whole }: WholeContent,
  now: string,
): Promise<void> => {
  await becomeLive(tx, await pending(tx, id), digest, whole.byteLength)
  await keepInline(tx, digest, whole, now)
}

/** A holder of bytes that come with the transaction. 507 `storage_quota` when there is no room. */
export const holdInline = async (
  tx: Transaction,
  { id, repository, holder }: Pick<Reservation, 'id' | 'repository' | 'holder'>,
  { digest, whole }: WholeContent,
  now: string,
  capacityBytes: number,
): Promise<void> => {
  const size = whole.byteLength
  await count(tx, repository, deltas(null, 'live', 0, size), capacityBytes)
  await insertClaim(tx, { id, repository, holder, sha256: digest, size, state: 'live', retired_at: null })
  await keepInline(tx, digest, whole, now)
}

const becomeLive = async (tx: Transaction, claim: ClaimsTable, digest: Sha256, bytes: number): Promise<void> => {
  await count(tx, claim.repository, deltas('pending', 'live', claim.size, bytes), Number.POSITIVE_INFINITY)
  await updateClaim(tx, { ...claim, sha256: digest, size: bytes, state: 'live' })
}

/**
 * Counts what a holder has in the database beside its bytes, in the transaction that writes it. 507 `storage_quota`
 * when there is no room for it.
 */
export const countBeside = async (tx: Transaction, id: string, bytes: number, capacityBytes: number): Promise<void> => {
  const claim = await lockClaim(tx, id)
  if (claim?.state !== 'live') throw ended()
  await count(tx, claim.repository, deltas('live', 'live', claim.beside, bytes), capacityBytes)
  await setBeside(tx, { id, beside: bytes })
}

/**
 * A holder more for bytes that are published: nothing is copied. The caller holds the lock of another live claim on
 * them, so that they cannot go meanwhile. 507 `storage_quota` when there is no room: each holder counts.
 */
export const share = async (
  tx: Transaction,
  wanted: Reservation & { digest: Sha256 },
  capacityBytes: number,
): Promise<void> => {
  const { id, repository, holder, digest, bytes } = wanted
  await count(tx, repository, deltas(null, 'live', 0, bytes), capacityBytes)
  await insertClaim(tx, {
    id,
    repository,
    holder,
    sha256: digest,
    size: bytes,
    state: 'live',
    retired_at: null,
  })
  if ((await expectBlob(tx, digest, bytes)).state !== 'stored')
    throw new Error(`blob ${digest} is claimed and not stored`)
}

/** Published bytes that a repository is to hold as well. */
export interface SharedBytes {
  readonly id: string
  readonly digest: Sha256
  readonly bytes: number
}

/**
 * The same of many, each other bytes. The caller holds the lock of the repository in which live claims are on all of
 * them: under it no claim ends. 507 `storage_quota` when there is no room for all, before anything is written.
 */
export const shareAll = async (
  tx: Transaction,
  { repository, holder }: Pick<Reservation, 'repository' | 'holder'>,
  wanted: readonly SharedBytes[],
  capacityBytes: number,
): Promise<void> => {
  const total = wanted.reduce((sum, { bytes }) => sum + bytes, 0)
  await count(tx, repository, deltas(null, 'live', 0, total), capacityBytes)
  for (let at = 0; at < wanted.length; at += claimsAtOnce) {
    const some = wanted.slice(at, at + claimsAtOnce)
    await insertClaims(
      tx,
      some.map(({ id, digest, bytes }) => ({
        ...{ id, repository, holder, sha256: digest, size: bytes },
        ...{ state: 'live' as const, retired_at: null },
      })),
    )
    const stored = await storedAmong(
      tx,
      some.map(({ digest }) => digest),
    )
    if (stored < some.length) throw new Error(`${some.length - stored} blobs are claimed and not stored`)
  }
}

/** Claims that go into one statement. */
const claimsAtOnce = 500

/** The holder is gone for its users; the bytes stay counted until {@link release} after the grace period. */
export const retire = async (tx: Transaction, id: string, now: string): Promise<void> => {
  const claim = await lockClaim(tx, id)
  if (claim === undefined || claim.state === 'retired') return
  const weight = weightOf(claim)
  await count(tx, claim.repository, deltas(claim.state, 'retired', weight, weight), Number.POSITIVE_INFINITY)
  await updateClaim(tx, { ...claim, state: 'retired', retired_at: now })
}

/** Whether the claim is live; locks it, which comes before every other lock. */
export const lockLive = async (tx: Transaction, id: string): Promise<boolean> =>
  (await lockClaim(tx, id))?.state === 'live'

/** Where and when the claim was retired, or null where it is not; locks it, as {@link lockLive} does. */
export const lockRetired = async (
  tx: Transaction,
  id: string,
): Promise<{ readonly repository: string; readonly retiredAt: string } | null> => {
  const claim = await lockClaim(tx, id)
  if (claim === undefined || claim.retired_at === null) return null
  return { repository: claim.repository, retiredAt: claim.retired_at }
}

/** Undoes {@link retire}: the holder is back. False when the grace period is over and the claim was released. */
export const revive = async (tx: Transaction, id: string): Promise<boolean> => {
  const claim = await lockClaim(tx, id)
  if (claim?.state !== 'retired') return false
  const weight = weightOf(claim)
  await count(tx, claim.repository, deltas('retired', 'live', weight, weight), Number.POSITIVE_INFINITY)
  await updateClaim(tx, { ...claim, state: 'live', retired_at: null })
  return true
}

/**
 * Gives the room back, and the bytes to reclaim unless others hold them. Answers what kind of thing held them, and null
 * when that was done already. What is published is retired first: releasing a live claim would take the bytes from
 * under its holder.
 */
export const release = async (tx: Transaction, id: string, now: string): Promise<HolderKind | null> => {
  const claim = await lockClaim(tx, id)
  if (claim === undefined) return null
  if (claim.state === 'live') throw new Error(`claim ${id} is live and must be retired before it is released`)
  await count(tx, claim.repository, deltas(claim.state, null, weightOf(claim), 0), Number.POSITIVE_INFINITY)
  await deleteClaim(tx, { id })
  if (claim.sha256 !== null) await insertCandidate(tx, claim.sha256, now)
  return claim.holder
}

/**
 * Sets the counters of a repository to what its claims add up to. Every change of a claim takes the same lock first.
 */
export const recountRepository = async (tx: Transaction, repository: string): Promise<void> => {
  await moveRepositoryBytes(tx, repository, { published: 0, pending: 0, retired: 0 })
  await setRepositoryBytes(tx, repository)
}

/** Sets the server's counter to what all claims add up to. */
export const recountServer = async (tx: Transaction): Promise<void> => {
  const counted = await moveCounter(tx, 'reserved_bytes', 0)
  await moveCounter(tx, 'reserved_bytes', (await claimedBytes(tx)) - counted)
}
