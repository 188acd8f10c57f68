import { type AssemblyDeps, isBegun } from '../../../content/assembly/assembly.ts'
import { release, reserve, retire } from '../../../content/claims/claims.ts'
import type { RoomDeps } from '../../../content/claims/room.ts'
import type { IngestDeps } from '../../../content/ingest/ingest.ts'
import type { Transaction } from '../../../database/database.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import { endJobOf } from '../../../jobs/enqueue.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { Failure, invalid, notFound } from '../../../kernel/failure.ts'
import { labelsText, metadataText } from '../../catalog/artifacts/views.ts'
import type { ArtifactRecord, NewDescriptor } from '../../catalog/artifacts/vocabulary.ts'
import { type AllowanceDeps, allowanceFor } from './allowance.ts'
import type { LeaseDeps } from './lease.ts'
import { sessionRow } from './rows.ts'
import { described, lockOwn, recordOf, sessionOf, type UploadScope } from './session.ts'
import { findByIdempotencyKey, findUpload, forgetCancelled, insertUpload, updateUpload } from './uploads.queries.ts'

/** What it takes to receive a file in one request. */
export interface TransferDeps extends IngestDeps, RoomDeps, LeaseDeps, AllowanceDeps {
  readonly maxObjectBytes: number
}

export interface UploadDeps extends TransferDeps, AssemblyDeps {
  /** Raised when a job is waiting for a worker. */
  readonly jobsWaiting: { raise(): void }
}

const sameDescription = (row: UploadsTable, wanted: NewDescriptor): boolean =>
  row.name === wanted.name &&
  String(row.size) === wanted.size &&
  row.sha256 === wanted.sha256 &&
  row.labels === labelsText(wanted.labels) &&
  row.metadata === metadataText(wanted.metadata)

/**
 * Opens a session and reserves its size (507 `storage_quota`, `insufficient_space`, `upload_limit`). The same key with
 * the same description gives the same session, `created` false; with another one 409 `idempotency_mismatch`.
 */
export const createUpload = async (
  deps: UploadDeps,
  scope: UploadScope,
  idempotencyKey: string,
  wanted: NewDescriptor,
): Promise<{ upload: ArtifactRecord; created: boolean }> => {
  const bytes = Number(wanted.size)
  if (bytes > deps.maxObjectBytes)
    throw invalid('/size', `must be at most ${deps.maxObjectBytes} bytes (SVC_MAX_OBJECT_BYTES)`)
  await deps.freeSpace.refuseUnlessRoomFor(0)
  const allow = await allowanceFor(deps, scope.owner)
  const opened = await deps.database
    .transaction(async (tx) => {
      const known = await findByIdempotencyKey(tx, scope.repository, scope.owner, idempotencyKey)
      if (known !== undefined) return replay(tx, known, wanted)
      const row = sessionRow(scope, idempotencyKey, wanted, deps.clock.now())
      const digest = toSha256(wanted.sha256)
      const claim = { id: row.id, repository: scope.repository, holder: 'artifact', digest, bytes } as const
      await reserve(tx, claim, deps.capacityBytes)
      // The lock of the repository's row, which reserve took, may have waited for a request with the same key.
      const meanwhile = await findByIdempotencyKey(tx, scope.repository, scope.owner, idempotencyKey)
      if (meanwhile !== undefined) throw new SessionAppeared()
      await insertUpload(tx, row)
      await allow(tx)
      return { upload: recordOf(described(row)), created: true }
    })
    .catch((error: unknown) => {
      if (error instanceof SessionAppeared) return null
      throw error
    })
  if (opened === null) return createUpload(deps, scope, idempotencyKey, wanted)
  if (opened.created) deps.reach('publish.reserved')
  return opened
}

/** Two requests with one key raced; the loser undoes its reservation and looks again. */
class SessionAppeared extends Error {}

const replay = async (
  tx: Transaction,
  known: UploadsTable,
  wanted: NewDescriptor,
): Promise<{ upload: ArtifactRecord; created: boolean }> => {
  if (!sameDescription(known, wanted))
    throw new Failure('idempotency_mismatch', 'This Idempotency-Key was used for another description; take a new one.')
  return { upload: recordOf(await sessionOf(tx, known)), created: false }
}

/** Only its creator sees an upload. */
export const getUpload = async (deps: UploadDeps, scope: UploadScope, id: string): Promise<ArtifactRecord> => {
  const row = await findUpload(deps.database.reader, scope.repository, id, scope.owner)
  if (row === undefined) throw notFound('upload')
  return recordOf(await sessionOf(deps.database.reader, row))
}

/**
 * Cancels a pending session; cancelling what leads to no file changes nothing. 409 `upload_state` for one whose file is
 * there.
 */
export const cancelUpload = (deps: UploadDeps, scope: UploadScope, id: string): Promise<ArtifactRecord> =>
  deps.database.transaction(async (tx) => {
    const row = await lockOwn(tx, scope, id)
    if (row.status === 'available')
      throw new Failure('upload_state', 'The upload is published and cannot be cancelled.')
    if (row.status === 'pending') await cancel(tx, row, timestamp(deps.clock.now()))
    return { ...recordOf(row), status: 'cancelled' }
  })

/**
 * What cancelling and expiring do: the session ends. What was stored of it stays counted until the grace period is
 * over; a session of which nothing came gives its room back at once, and so does what is appended to, which nobody can
 * ask for by what it was to be. While somebody sends, either waits for the grace period: what they send may still get
 * its name. The caller has locked the row.
 */
export const cancel = async (
  tx: Transaction,
  { id, kind, owner, turn_until }: Pick<UploadsTable, 'id' | 'kind' | 'owner' | 'turn_until'>,
  now: string,
): Promise<void> => {
  const isSentTo = turn_until !== null && turn_until > now
  const isKept = isSentTo || (kind !== 'appended' && (await isBegun(tx, id)))
  await (isKept ? retire(tx, id, now) : release(tx, id, now))
  await updateUpload(tx, id, { status: 'cancelled', ended_at: now, turn_holder: null, turn_until: null })
  await endJobOf(tx, 'completion', id, now, { errorCode: 'upload_state', lastingly: true })
  await forgetCancelled(tx, owner)
}
