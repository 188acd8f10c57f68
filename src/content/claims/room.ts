import type { Database, Transaction } from '../../database/database.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { type Sha256, toSha256 } from '../../kernel/digest.ts'
import type { ReachFaultPoint } from '../../kernel/fault-points.ts'
import { type BlobName, blobName } from '../../ports/blob-name.ts'
import { findPendingClaim } from './claims.queries.ts'
import {
  adjust,
  ended,
  holdInline,
  identify,
  publish,
  publishInline,
  type Reservation,
  release,
  reserve,
  type WholeContent,
} from './claims.ts'
import { giveUpBytes } from './unheld-bytes.ts'

export interface RoomDeps {
  readonly database: Database
  readonly clock: Clock
  readonly reach: ReachFaultPoint
  readonly capacityBytes: number
}

/** Bytes that were verified. */
export interface Content {
  readonly digest: Sha256
  readonly bytes: number
}

/** Rows of the caller, in the transaction that publishes. */
type Commit<T> = (tx: Transaction, content: Content, now: string) => Promise<T>

/** Rows that a caller writes in a transaction of ours. SQL and nothing else (I5). */
type Alongside<T> = (tx: Transaction) => Promise<T>

/**
 * Room for bytes on their way in: a pending claim in the hands of whoever brings them. It goes one of two ways:
 * `publish` makes it the holder of what came, `abandon` gives it back. Whoever does neither, because the process died,
 * leaves a pending claim, which its upload or its lease ends. 409 `upload_state` from all of them once it has ended.
 */
export interface Room {
  /** The claim's, and of what will hold the bytes. */
  readonly id: string
  /** How much is set aside. */
  readonly bytes: number
  /** What the bytes will be called: known where their digest was declared. */
  readonly name: BlobName | null
  /**
   * Sets so much aside from now on, and of what is wanted ahead as much as {@link adjust} gives; 507 `storage_quota`.
   * `allow` is asked in the same transaction.
   */
  resize(bytes: number, ahead: number, allow?: Alongside<void>): Promise<void>
  /**
   * How verified bytes become visible, whatever the door they came through. Order: announce what the digest is, unless
   * it was declared
   * -> `keepAs` makes them durable under the name that it is told -> one transaction with blob, claim, counters and the
   * caller's rows (I1, I4). The announcement is durable before they have their name: whatever a power cut leaves of
   * this, the claim lapses, is released, and takes the bytes along.
   */
  publish<T>(content: Content, keepAs: (name: BlobName) => Promise<void>, commit: Commit<T>): Promise<T>
  /** The same for bytes that are all here, and small: one transaction, and nothing in the store. */
  publishInline<T>(content: WholeContent, commit: Commit<T>): Promise<T>
  /**
   * Gives it back, unless `isOurs` says in the same transaction that it is not, since the news of a commit was lost.
   */
  abandon(isOurs: Alongside<boolean>): Promise<void>
}

/**
 * Sets room aside before a byte arrives, with the rows of whoever asks. 507 `storage_quota` when there is none, 404
 * when there is no repository. Lost in a crash it is as good as given back, so nobody waits for the disk.
 */
export const setAside = async (deps: RoomDeps, wanted: Reservation, alongside: Alongside<void>): Promise<Room> => {
  const name = await deps.database.transaction(
    async (tx) => {
      const announced = await reserve(tx, wanted, deps.capacityBytes)
      await alongside(tx)
      return announced
    },
    { durability: 'relaxed' },
  )
  return roomWith(deps, { id: wanted.id, bytes: wanted.bytes, name })
}

/**
 * Publishes bytes that are all here, and small, without having set room aside: they become what `wanted` says in the
 * one transaction that looks whether there is room. 507 `storage_quota`, 404 when there is no repository.
 */
export const holdAtOnce = async <T>(
  { database, clock, reach, capacityBytes }: RoomDeps,
  wanted: Pick<Reservation, 'id' | 'repository' | 'holder'>,
  content: WholeContent,
  commit: Commit<T>,
): Promise<T> => {
  const now = timestamp(clock.now())
  const result = await database.transaction(async (tx) => {
    await holdInline(tx, wanted, content, now, capacityBytes)
    return commit(tx, { digest: content.digest, bytes: content.whole.byteLength }, now)
  })
  reach('publish.committed')
  return result
}

/** The room that was set aside under an id, by whatever process. */
export const roomOf = async (deps: RoomDeps, id: string): Promise<Room> => {
  const claim = await findPendingClaim(deps.database.reader, id)
  if (claim === undefined) throw ended()
  const { size, sha256, generation } = claim
  const name = sha256 === null || generation === null ? null : blobName(toSha256(sha256), generation)
  return roomWith(deps, { id, bytes: size, name })
}

const roomWith = (deps: RoomDeps, begun: Pick<Room, 'id' | 'bytes' | 'name'>): Room => {
  const { database, clock, reach, capacityBytes } = deps
  const { id, name } = begun
  let { bytes } = begun

  /** Publishing waits until it is durable. */
  const announce = ({ digest, bytes: found }: Content): Promise<BlobName> =>
    database.transaction((tx) => identify(tx, id, digest, found, capacityBytes), { durability: 'relaxed' })

  return {
    id,
    name,
    get bytes() {
      return bytes
    },

    async resize(wanted, ahead, allow) {
      bytes = await database.transaction(
        async (tx) => {
          const aside = await adjust(tx, id, { bytes: wanted, ahead }, capacityBytes)
          await allow?.(tx)
          return aside
        },
        { durability: 'relaxed' },
      )
    },

    async publish(content, keepAs, commit) {
      const named = { ...content, name: name ?? (await announce(content)) }
      reach('publish.announced')
      // A name may reach the disk before any commit does. Without a durable claim nobody would know whose bytes these
      // are.
      await database.settled()
      await keepAs(named.name)
      reach('publish.placed')
      const now = timestamp(clock.now())
      const publishing = database.transaction(async (tx) => {
        await publish(tx, id, named, now)
        return commit(tx, content, now)
      })
      const result = await publishing.catch(async (error: unknown) => {
        await leaveToReclaim(deps, named, now)
        throw error
      })
      reach('publish.committed')
      return result
    },

    async publishInline({ digest, whole }, commit) {
      const now = timestamp(clock.now())
      const result = await database.transaction(async (tx) => {
        await publishInline(tx, id, { digest, whole }, now)
        return commit(tx, { digest, bytes: whole.byteLength }, now)
      })
      reach('publish.committed')
      return result
    },

    async abandon(isOurs) {
      await database.transaction(
        async (tx) => {
          if (await isOurs(tx)) await release(tx, id, timestamp(clock.now()))
        },
        { durability: 'relaxed' },
      )
    },
  }
}

/**
 * The bytes have their final name and nobody holds them. While the claim lives, its end will queue them; but it may
 * have ended before they got their name (its lease lapsed while the database was away), and their row with it.
 */
const leaveToReclaim = async (
  { database }: RoomDeps,
  { name, bytes }: { readonly name: BlobName; readonly bytes: number },
  now: string,
): Promise<void> => {
  // What failed before is the answer. If this fails as well, the claim is most likely still there and does it.
  await database.transaction((tx) => giveUpBytes(tx, name, bytes, now), { durability: 'relaxed' }).catch(() => {})
}
