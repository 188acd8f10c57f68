import type { Transaction } from '../../../database/database.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import { timestamp } from '../../../kernel/clock.ts'
import type { Sha256 } from '../../../kernel/digest.ts'
import { newId } from '../../../kernel/ids.ts'
import { uploadLifetimeMs } from '../../../kernel/limits/transfers.ts'
import { labelsText, metadataText } from '../../catalog/artifacts/views.ts'
import type { NewDescriptor } from '../../catalog/artifacts/vocabulary.ts'
import { leaseEnd } from './lease.ts'
import type { UploadScope } from './session.ts'
import { deleteUpload, insertUpload } from './uploads.queries.ts'

const begun = (scope: UploadScope, nowMs: number) =>
  ({
    id: newId(nowMs),
    ...scope,
    status: 'pending',
    created_at: timestamp(nowMs),
    expires_at: timestamp(nowMs + uploadLifetimeMs),
    ended_at: null,
  }) as const

/** A session, to which nobody sends yet. */
export const sessionRow = (scope: UploadScope, key: string, wanted: NewDescriptor, nowMs: number): UploadsTable => ({
  ...begun(scope, nowMs),
  kind: 'session',
  idempotency_key: key,
  name: wanted.name,
  size: Number(wanted.size),
  sha256: wanted.sha256,
  labels: labelsText(wanted.labels),
  metadata: metadataText(wanted.metadata),
  turn_holder: null,
  turn_until: null,
})

/** What is appended to; nobody knows yet what it will be, nor sends to it. */
export const appendedRow = (scope: UploadScope, name: string, lifetimeMs: number, nowMs: number): UploadsTable => ({
  ...begun(scope, nowMs),
  expires_at: timestamp(nowMs + lifetimeMs),
  kind: 'appended',
  idempotency_key: null,
  name,
  size: null,
  sha256: null,
  labels: '[]',
  metadata: '{}',
  turn_holder: null,
  turn_until: null,
})

/** What is known of a transfer when it begins. */
export interface NewTransfer {
  readonly name: string
  readonly bytes: number | null
  readonly digest: Sha256 | null
}

/** A file that comes in one request without a session. Its request has the lease from the beginning. */
export const transferRow = (scope: UploadScope, file: NewTransfer, holder: string, nowMs: number): UploadsTable => ({
  ...begun(scope, nowMs),
  kind: 'raw',
  idempotency_key: null,
  name: file.name,
  size: file.bytes,
  sha256: file.digest,
  labels: '[]',
  metadata: '{}',
  turn_holder: holder,
  turn_until: leaseEnd(nowMs),
})

/** Writes down that a transfer has begun, in the transaction that reserves its room. */
export const beginTransfer = async (tx: Transaction, row: UploadsTable): Promise<void> => {
  await insertUpload(tx, row)
}

/** Ends a transfer, whatever came of it. False where it had ended before. */
export const endTransfer = (tx: Transaction, id: string): Promise<boolean> => deleteUpload(tx, id)
