import type { Transaction } from '../../database/database.ts'
import { Failure } from '../../kernel/failure.ts'
import { undeclaredReservationBytes } from '../../kernel/limits/transfers.ts'
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

/** Makes the room larger ahead of what comes, and near the quota no more than it takes. 507 where there is none. */
export const growAhead = async (
  { freeSpace }: { readonly freeSpace: FreeSpace },
  { room, maxBytes, allowMore }: UndeclaredBytes,
  bytes: number,
): Promise<void> => {
  const ahead = Math.min(Math.max(room.bytes * 2, bytes, undeclaredReservationBytes), maxBytes)
  await freeSpace.refuseUnlessRoomFor(ahead - bytes)
  const allow = await allowMore?.()
  try {
    await room.grow(ahead, allow)
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'storage_quota') throw error
    await room.grow(bytes, allow)
  }
}
