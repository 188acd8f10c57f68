import { reserve, retire } from '../../content/claims.ts'
import { type IngestParts, ingest, whenNotReclaimed } from '../../content/ingest.ts'
import type { Transaction } from '../../database/database.ts'
import type { UploadsTable } from '../../database/tables/uploads.ts'
import { appendJournal } from '../../journal/journal.ts'
import { timestamp } from '../../kernel/clock.ts'
import { type Sha256, toSha256 } from '../../kernel/digest.ts'
import { Failure, invalid, notFound } from '../../kernel/failure.ts'
import { newId } from '../../kernel/ids.ts'
import { uploadLifetimeMs } from '../../kernel/limits.ts'
import { type ArtifactRecord, labelsText, metadataText, type NewDescriptor, toRecord } from './descriptor.ts'
import { leaveTurn, type TurnParts, turnEnd, whileRenewing } from './turn.ts'
import {
  findByIdempotencyKey,
  findUpload,
  insertArtifact,
  insertUpload,
  lockUpload,
  updateUpload,
} from './uploads.queries.ts'

export interface UploadParts extends IngestParts, TurnParts {
  readonly maxObjectBytes: number
}

/** Whose upload, and where. */
export interface UploadScope {
  readonly repository: string
  readonly owner: string
}

/** A session declares size and digest; only raw transfers lack them. */
const declared = (row: UploadsTable): UploadsTable & { size: number; sha256: string } => {
  const { size, sha256 } = row
  if (size === null || sha256 === null) throw new Error(`upload ${row.id} is no session`)
  return { ...row, size, sha256 }
}

const recordOf = (row: UploadsTable): ArtifactRecord => toRecord(declared(row), row.status)

const sameDescription = (row: UploadsTable, wanted: NewDescriptor): boolean =>
  row.name === wanted.name &&
  String(row.size) === wanted.size &&
  row.sha256 === wanted.sha256 &&
  row.labels === labelsText(wanted.labels) &&
  row.metadata === metadataText(wanted.metadata)

/**
 * Opens a session and reserves its size (507 `storage_quota`, `insufficient_space`). The same key with the same
 * description gives the same session, `created` false; with another one 409 `idempotency_mismatch`.
 */
export const createUpload = async (
  parts: UploadParts,
  scope: UploadScope,
  idempotencyKey: string,
  wanted: NewDescriptor,
): Promise<{ upload: ArtifactRecord; created: boolean }> => {
  const bytes = Number(wanted.size)
  if (bytes > parts.maxObjectBytes)
    throw invalid('/size', `must be at most ${parts.maxObjectBytes} bytes (SVC_MAX_OBJECT_BYTES)`)
  // Room for all of it is asked for when the bytes come; a session may wait for days, and for parts of it to be elsewhere.
  await parts.freeSpace.refuseUnlessRoomFor(0)
  const opened = await whenNotReclaimed(() =>
    parts.database.transaction(async (tx) => {
      const known = await findByIdempotencyKey(tx, scope.repository, scope.owner, idempotencyKey)
      if (known !== undefined) return replay(known, wanted)
      const row = sessionRow(scope, idempotencyKey, wanted, parts.clock.now())
      const digest = toSha256(wanted.sha256)
      await reserve(tx, { id: row.id, repository: scope.repository, digest, bytes }, parts.capacityBytes)
      // The lock of the repository's row, which reserve took, may have waited for a request with the same key.
      const meanwhile = await findByIdempotencyKey(tx, scope.repository, scope.owner, idempotencyKey)
      if (meanwhile !== undefined) throw new SessionAppeared()
      await insertUpload(tx, row)
      return { upload: recordOf(row), created: true }
    }),
  ).catch((error: unknown) => {
    if (error instanceof SessionAppeared) return null
    throw error
  })
  if (opened === null) return createUpload(parts, scope, idempotencyKey, wanted)
  if (opened.created) parts.reach('publish.reserved')
  return opened
}

/** Two requests with one key raced; the loser undoes its reservation and looks again. */
class SessionAppeared extends Error {}

const replay = (known: UploadsTable, wanted: NewDescriptor): { upload: ArtifactRecord; created: boolean } => {
  if (!sameDescription(known, wanted))
    throw new Failure('idempotency_mismatch', 'This Idempotency-Key was used for another description; take a new one.')
  return { upload: recordOf(known), created: false }
}

const sessionRow = (scope: UploadScope, key: string, wanted: NewDescriptor, nowMs: number): UploadsTable => ({
  id: newId(nowMs),
  ...scope,
  kind: 'session',
  idempotency_key: key,
  name: wanted.name,
  size: Number(wanted.size),
  sha256: wanted.sha256,
  labels: labelsText(wanted.labels),
  metadata: metadataText(wanted.metadata),
  status: 'pending',
  created_at: timestamp(nowMs),
  expires_at: timestamp(nowMs + uploadLifetimeMs),
  ended_at: null,
  turn_holder: null,
  turn_until: null,
})

/** Only its creator sees an upload. */
export const getUpload = async (parts: UploadParts, scope: UploadScope, id: string): Promise<ArtifactRecord> => {
  const row = await findUpload(parts.database.reader, scope.repository, id, scope.owner)
  if (row === undefined) throw notFound('upload')
  return recordOf(row)
}

const lockOwn = async (tx: Transaction, scope: UploadScope, id: string): Promise<UploadsTable> => {
  const row = await lockUpload(tx, id)
  if (row?.repository !== scope.repository || row.owner !== scope.owner || row.kind !== 'session')
    throw notFound('upload')
  return row
}

/** Cancels a pending session; cancelling again changes nothing. 409 `upload_state` for a published one. */
export const cancelUpload = (parts: UploadParts, scope: UploadScope, id: string): Promise<ArtifactRecord> =>
  parts.database.transaction(async (tx) => {
    const row = await lockOwn(tx, scope, id)
    if (row.status === 'available')
      throw new Failure('upload_state', 'The upload is published and cannot be cancelled.')
    if (row.status === 'pending') await cancel(tx, id, timestamp(parts.clock.now()))
    return { ...recordOf(row), status: 'cancelled' }
  })

/** What cancelling and expiring do: the session ends, its room stays counted until the grace period is over. */
export const cancel = async (tx: Transaction, id: string, now: string): Promise<void> => {
  await retire(tx, id, now)
  await updateUpload(tx, id, { status: 'cancelled', ended_at: now, turn_holder: null, turn_until: null })
}

/**
 * Takes the whole file in one request and publishes it under the session's id. 422 when size or digest differ, 409
 * `upload_state` when the session is not pending, 503 `busy` while another request sends to it. After a failure the
 * session is as before and takes another try.
 */
export const putContent = async (
  parts: UploadParts,
  scope: UploadScope,
  id: string,
  body: { declaredBytes: number | null; pieces: AsyncIterable<Uint8Array> },
): Promise<ArtifactRecord> => {
  const holder = newId(parts.clock.now())
  const row = await takeTurn(parts, scope, id, holder)
  try {
    if (body.declaredBytes !== null && body.declaredBytes !== row.size)
      throw new Failure('size_mismatch', `Content-Length is ${body.declaredBytes}; the session declares ${row.size}.`)
    await parts.freeSpace.refuseUnlessRoomFor(row.size)
    const digest = toSha256(row.sha256)
    await whileRenewing(parts, id, holder, () => receiveWhole(parts, row, holder, digest, body.pieces))
    return { ...recordOf(row), status: 'available' }
  } catch (error) {
    await leaveTurn(parts, id, holder).catch((second: unknown) =>
      parts.report('the turn of an upload could not be given back; it lapses by itself', second),
    )
    throw error
  }
}

const takeTurn = (parts: UploadParts, scope: UploadScope, id: string, holder: string) =>
  parts.database.transaction(
    async (tx) => {
      const row = await lockOwn(tx, scope, id)
      const nowMs = parts.clock.now()
      const now = timestamp(nowMs)
      if (row.status !== 'pending')
        throw new Failure('upload_state', `The upload is ${row.status}; it takes no content.`)
      if (row.expires_at <= now) throw new Failure('upload_state', 'The upload session has expired; start a new one.')
      if (row.turn_until !== null && row.turn_until > now)
        throw new Failure('busy', 'Another request is sending to this upload.', { retryAfterSeconds: 5 })
      await updateUpload(tx, id, { turn_holder: holder, turn_until: turnEnd(nowMs) })
      return declared(row)
    },
    { durability: 'relaxed' },
  )

const receiveWhole = (
  parts: UploadParts,
  row: UploadsTable & { size: number; sha256: string },
  holder: string,
  digest: Sha256,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> =>
  ingest(
    parts,
    {
      claimId: row.id,
      stagingId: holder,
      pieces,
      expected: { bytes: row.size, digest },
      reservedBytes: row.size,
      maxBytes: parts.maxObjectBytes,
    },
    {
      commit: async (tx, content, now) => {
        await publishArtifact(tx, { ...row, sha256: content.digest, size: content.bytes }, row.owner, now)
        await updateUpload(tx, row.id, { status: 'available', ended_at: now, turn_holder: null, turn_until: null })
      },
    },
  )

/** The row of a published file and its line in the journal (I4). */
export const publishArtifact = async (
  tx: Transaction,
  row: Pick<UploadsTable, 'id' | 'repository' | 'name' | 'labels' | 'metadata' | 'created_at' | 'expires_at'> & {
    size: number
    sha256: string
  },
  actor: string,
  now: string,
): Promise<void> => {
  const { id, repository, name, size, sha256, labels, metadata, created_at, expires_at } = row
  await insertArtifact(tx, {
    id,
    repository,
    name,
    size,
    sha256,
    labels,
    metadata,
    created_at,
    expires_at,
    published_at: now,
  })
  await appendJournal(tx, {
    repository,
    action: 'artifact.publish',
    artifactId: id,
    detail: null,
    actor,
    occurredAt: now,
  })
}
