import type { FreeSpace } from '../../../content/ingest/free-space.ts'
import { moveCounter } from '../../../database/counters.queries.ts'
import type { Transaction } from '../../../database/database.ts'
import { Failure } from '../../../kernel/failure.ts'
import { openUploadsMax, openUploadsPerCallerMax, uploadShareFloorBytes } from '../../../kernel/limits/transfers.ts'
import { allUnderWay, underWayOf } from './allowance.queries.ts'

/**
 * What may be promised to uploads. A reservation is room that others cannot have, for as long as a week, before a byte
 * of it came: so all of them together never promise more than the disk holds, and one caller gets a share of what is
 * left.
 */
export interface AllowanceDeps {
  readonly freeSpace: FreeSpace
  readonly capacityBytes: number
  /** How much of the room that is left one caller's uploads may reserve. */
  readonly uploadSharePercent: number
}

/** Throws 507 unless what the transaction has reserved for the owner, all in all, may be promised. */
export type Allow = (tx: Transaction) => Promise<void>

/**
 * Looks at the disk, which a transaction must not (I5), and gives the check that the transaction makes after it
 * reserved and inserted the upload. 507 `upload_limit` for too many, `insufficient_space` and `storage_quota` for too
 * much.
 */
export const allowanceFor = async (deps: AllowanceDeps, owner: string): Promise<Allow> => {
  const roomBytes = await deps.freeSpace.roomBytes()
  return async (tx) => {
    // The server's row: whoever reserves comes after us, and sees what we reserved. Its lock is the last before blobs.
    const reserved = await moveCounter(tx, 'reserved_bytes', 0)
    const mine = await underWayOf(tx, owner)
    if (mine.uploads > openUploadsPerCallerMax)
      throw new Failure(
        'upload_limit',
        `You have ${openUploadsPerCallerMax} uploads under way, which is as many as one may. Complete or cancel some.`,
      )
    const all = await allUnderWay(tx)
    if (all.uploads > openUploadsMax)
      throw new Failure(
        'upload_limit',
        `${openUploadsMax} uploads are under way on this server, which is as many as may be. An administrator can cancel some.`,
      )
    if (roomBytes !== null && all.unwrittenBytes > roomBytes)
      throw new Failure(
        'insufficient_space',
        `The disk has room for ${Math.max(0, roomBytes)} bytes beyond its reserve, and uploads under way would be promised ${all.unwrittenBytes}. Wait until some end, or have some cancelled.`,
      )
    const left = Math.min(deps.capacityBytes - reserved, (roomBytes ?? Number.POSITIVE_INFINITY) - all.unwrittenBytes)
    const share = Math.floor(((mine.bytes + left) * deps.uploadSharePercent) / 100)
    if (mine.bytes > Math.max(share, uploadShareFloorBytes))
      throw new Failure(
        'storage_quota',
        `Your uploads under way would reserve ${mine.bytes} bytes, more than the ${share} that one caller may (SVC_UPLOAD_SHARE_PERCENT=${deps.uploadSharePercent} of what is left). Complete or cancel some.`,
      )
  }
}
