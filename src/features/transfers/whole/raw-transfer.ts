import { type Room, setAside } from '../../../content/claims/room.ts'
import type { Transaction } from '../../../database/database.ts'
import type { HolderKind } from '../../../database/tables/claims.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import { newId } from '../../../kernel/ids.ts'
import { smallTransferBytes } from '../../../kernel/limits/transfers.ts'
import { type Allow, allowanceFor } from '../uploads/allowance.ts'
import { beginTransfer, endTransfer, type NewTransfer, transferRow } from '../uploads/rows.ts'
import type { UploadScope } from '../uploads/session.ts'
import type { TransferDeps } from '../uploads/uploads.ts'

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
  file: NewTransfer & { readonly kind: HolderKind },
): Promise<RawTransfer> => {
  const nowMs = deps.clock.now()
  const holder = newId(nowMs)
  const row = transferRow(scope, file, holder, nowMs)
  const { kind, digest, bytes } = file
  const claim = { id: row.id, repository: scope.repository, holder: kind, digest, bytes: bytes ?? 0 }
  await deps.freeSpace.refuseUnlessRoomFor(claim.bytes)
  const allow = claim.bytes > smallTransferBytes ? await allowanceFor(deps, scope.owner) : small
  const room = await setAside(deps, claim, async (tx) => {
    await beginTransfer(tx, row)
    await allow(tx)
  })
  deps.reach('publish.reserved')
  return { room, row, holder }
}

/** Ends a transfer that published: what it reserved is held by what came to be. */
export const closeRawTransfer = async (tx: Transaction, { row }: RawTransfer): Promise<void> => {
  await endTransfer(tx, row.id)
}

/**
 * Gives the room of a transfer back that published nothing. Of one that did, unknown to us, there is no row any more.
 */
export const abandonRawTransfer = ({ room, row }: Pick<RawTransfer, 'room' | 'row'>): Promise<void> =>
  room.abandon((tx) => endTransfer(tx, row.id))
