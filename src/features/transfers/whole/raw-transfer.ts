import { type Room, setAside } from '../../../content/claims/room.ts'
import type { Transaction } from '../../../database/database.ts'
import type { HolderKind } from '../../../database/tables/claims.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import { timestamp } from '../../../kernel/clock.ts'
import type { Sha256 } from '../../../kernel/digest.ts'
import { newId } from '../../../kernel/ids.ts'
import { undeclaredReservationBytes, uploadLifetimeMs } from '../../../kernel/limits/transfers.ts'
import { type Allow, allowanceFor } from '../uploads/allowance.ts'
import { leaseEnd } from '../uploads/lease.ts'
import type { UploadScope } from '../uploads/session.ts'
import type { TransferDeps } from '../uploads/uploads.ts'
import { deleteTransfer, insertTransfer } from './whole.queries.ts'

/** A file that comes in one request without a session: reserved like one, gone when the request is. */
export interface RawTransfer {
  readonly room: Room
  readonly row: UploadsTable
  readonly holder: string
}

const small: Allow = async () => {}

/**
 * Reserves what was declared, or nothing yet for a body of unknown length. Small ones are not held against what may be
 * promised: they end within minutes, few come at once, and the disk's reserve holds them.
 */
export const openRawTransfer = async (
  deps: TransferDeps,
  scope: UploadScope,
  file: { name: string; kind: HolderKind; bytes: number | null; digest: Sha256 | null },
): Promise<RawTransfer> => {
  const nowMs = deps.clock.now()
  const holder = newId(nowMs)
  const row: UploadsTable = {
    id: newId(nowMs),
    ...scope,
    kind: 'raw',
    idempotency_key: null,
    name: file.name,
    size: file.bytes,
    sha256: file.digest,
    labels: '[]',
    metadata: '{}',
    status: 'pending',
    created_at: timestamp(nowMs),
    expires_at: timestamp(nowMs + uploadLifetimeMs),
    ended_at: null,
    turn_holder: holder,
    turn_until: leaseEnd(nowMs),
  }
  const { kind, digest, bytes } = file
  const claim = { id: row.id, repository: scope.repository, holder: kind, digest, bytes: bytes ?? 0 }
  await deps.freeSpace.refuseUnlessRoomFor(claim.bytes)
  const allow = claim.bytes > undeclaredReservationBytes ? await allowanceFor(deps, scope.owner) : small
  const room = await setAside(deps, claim, async (tx) => {
    await insertTransfer(tx, row)
    await allow(tx)
  })
  deps.reach('publish.reserved')
  return { room, row, holder }
}

/** Ends a transfer that published: what it reserved is held by what came to be. */
export const closeRawTransfer = async (tx: Transaction, { row }: RawTransfer): Promise<void> => {
  await deleteTransfer(tx, row.id)
}

/**
 * Gives the room of a transfer back that published nothing. Of one that did, unknown to us, there is no row any more.
 */
export const abandonRawTransfer = ({ room, row }: Pick<RawTransfer, 'room' | 'row'>): Promise<void> =>
  room.abandon((tx) => deleteTransfer(tx, row.id))
