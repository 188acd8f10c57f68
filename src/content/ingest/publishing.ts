import type { Database, Transaction } from '../../database/database.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import type { Sha256 } from '../../kernel/digest.ts'
import type { ReachFaultPoint } from '../../kernel/fault-points.ts'
import type { BlobName } from '../../ports/blob-name.ts'
import { publish } from '../claims/claims.ts'
import { giveUpBytes } from '../reclaim/reclaim-queue.ts'

export interface PublishingParts {
  readonly database: Database
  readonly clock: Clock
  readonly reach: ReachFaultPoint
}

export interface Content {
  readonly digest: Sha256
  readonly bytes: number
}

/** What is about to be published, and what it is called in the store. */
interface NamedContent extends Content {
  readonly name: BlobName
}

/**
 * How verified bytes become visible, whatever the door they came through: durable under their final name, then one
 * transaction with blob, claim, counters and the caller's rows (I1, I4). Their digest was announced before, and that is durable before they have their name: whatever a power
 * cut leaves of this, the claim lapses, is released, and takes the bytes along.
 */
export const publishContent = async <T>(
  parts: PublishingParts,
  claimId: string,
  content: NamedContent,
  place: () => Promise<void>,
  commit: (tx: Transaction, content: Content, now: string) => Promise<T>,
): Promise<T> => {
  parts.reach('publish.announced')
  // A name may reach the disk before any commit does. Without a durable claim nobody would know whose bytes these are.
  await parts.database.settled()
  await place()
  parts.reach('publish.placed')
  const now = timestamp(parts.clock.now())
  const publishing = parts.database.transaction(async (tx) => {
    await publish(tx, claimId, content, now)
    return commit(tx, content, now)
  })
  const result = await publishing.catch(async (error: unknown) => {
    await leaveToReclaim(parts, content, now)
    throw error
  })
  parts.reach('publish.committed')
  return result
}

/**
 * The bytes have their final name and nobody holds them. While the claim lives, its end will queue them; but it may have
 * ended before they got their name (its lease lapsed while the database was away), and their row with it.
 */
const leaveToReclaim = async (parts: PublishingParts, { name, bytes }: NamedContent, now: string): Promise<void> => {
  // What failed before is the answer. If this fails as well, the claim is most likely still there and does it.
  await parts.database.transaction((tx) => giveUpBytes(tx, name, bytes, now), { durability: 'relaxed' }).catch(() => {})
}
