import type { Transaction } from '../../database/database.ts'
import { Failure } from '../../kernel/failure.ts'
import { aheadBytes, aheadPart } from '../../kernel/limits/transfers.ts'
import type { Room } from '../claims/room.ts'
import type { FreeSpace } from './free-space.ts'

/** Bytes of which nobody said how many they are, and how far their room may grow. */
export interface UndeclaredBytes {
  /** Set aside for them. */
  readonly room: Room
  /** Runs after each growth of the room, in its transaction; throws 507 where it may not be promised. */
  readonly allowMore?: () => Promise<(tx: Transaction) => Promise<void>>
  readonly maxBytes: number
}

/**
 * Makes the room larger, somewhat ahead of what comes, so that it need not be asked for with each piece. The less is
 * left the less it takes ahead: what fits is not refused because others fit as well. 507 where there is none.
 */
export const growAhead = async (
  { freeSpace }: { readonly freeSpace: FreeSpace },
  { room, maxBytes, allowMore }: UndeclaredBytes,
  bytes: number,
): Promise<void> => {
  const ahead = Math.min(Math.max(Math.floor(bytes / aheadPart), aheadBytes), maxBytes - bytes)
  await freeSpace.refuseUnlessRoomFor(ahead)
  const allow = await allowMore?.()
  try {
    await room.resize(bytes, ahead, allow)
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'storage_quota') throw error
    await room.resize(bytes, 0, allow)
  }
}
