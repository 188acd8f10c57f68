import { release, reserve } from '../../../content/claims/claims.ts'
import type { Transaction } from '../../../database/database.ts'
import type { HolderKind } from '../../../database/tables/claims.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import { timestamp } from '../../../kernel/clock.ts'
import type { Sha256 } from '../../../kernel/digest.ts'
import { newId } from '../../../kernel/ids.ts'
import { undeclaredReservationBytes, uploadLifetimeMs } from '../../../kernel/limits/transfers.ts'
import { type Allow, allowanceFor } from './allowance.ts'
import type { UploadScope } from './session.ts'
import { turnEnd } from './turn.ts'
import { deleteUpload, insertUpload, lockUpload } from './uploads.queries.ts'
import type { TransferParts } from './uploads.ts'

/** A file that comes in one request without a session: reserved like one, gone when the request is. */
export interface RawTransfer {
  readonly row: UploadsTable
  readonly holder: string
}

const small: Allow = async () => {}

/**
 * Reserves what was declared, or nothing yet for a body of unknown length. Small ones are not held against what may be
 * promised: they end within minutes, few come at once, and the disk's reserve holds them.
 */
export const openRawTransfer = async (
  parts: TransferParts,
  scope: UploadScope,
  file: { name: string; kind: HolderKind; bytes: number | null; digest: Sha256 | null },
): Promise<RawTransfer> => {
  const nowMs = parts.clock.now()
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
    turn_until: turnEnd(nowMs),
  }
  const { kind, digest, bytes } = file
  const claim = { id: row.id, repository: scope.repository, holder: kind, digest, bytes: bytes ?? 0 }
  await parts.freeSpace.refuseUnlessRoomFor(claim.bytes)
  const allow = claim.bytes > undeclaredReservationBytes ? await allowanceFor(parts, scope.owner) : small
  await parts.database.transaction(
    async (tx) => {
      await reserve(tx, claim, parts.capacityBytes)
      await insertUpload(tx, row)
      await allow(tx)
    },
    // Lost in a crash it is as good as given back.
    { durability: 'relaxed' },
  )
  parts.reach('publish.reserved')
  return { row, holder }
}

/** Ends a transfer that published: what it reserved is held by its artifact now. */
export const closeRawTransfer = (tx: Transaction, transfer: RawTransfer): Promise<void> =>
  deleteUpload(tx, transfer.row.id)

/**
 * Gives the reservation of a transfer back that published nothing. Looks first: when the news of a commit was lost, the
 * transfer has published and its reservation is held by its artifact.
 */
export const abandonRawTransfer = (parts: TransferParts, transfer: RawTransfer): Promise<void> =>
  parts.database.transaction(
    async (tx) => {
      if ((await lockUpload(tx, transfer.row.id)) === undefined) return
      await release(tx, transfer.row.id, timestamp(parts.clock.now()))
      await deleteUpload(tx, transfer.row.id)
    },
    { durability: 'relaxed' },
  )
