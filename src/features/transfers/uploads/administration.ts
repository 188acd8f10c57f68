import { release } from '../../../content/claims/claims.ts'
import type { Database } from '../../../database/database.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import { type Actor, appendSecurityAudit, changeAuthority } from '../../../journal/security-audit/security-audit.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { cursorAt, type Start } from '../../../kernel/order.ts'
import { type OpenUploadRow, openUploadsPage } from './administration.queries.ts'
import { deleteUpload, lockUpload } from './uploads.queries.ts'
import { cancel } from './uploads.ts'

/** An upload as administrators see it: whose it is and what it takes, nothing of what is in it. */
export interface OpenUploadRecord {
  readonly id: string
  readonly repository: string
  readonly kind: UploadsTable['kind']
  readonly owner: string
  readonly reservedBytes: string
  readonly storedBytes: string
  readonly sending: boolean
  readonly createdAt: string
  readonly expiresAt: string
}

interface Deps {
  readonly database: Database
  readonly clock: Clock
}

const recordOf = (row: OpenUploadRow, now: string): OpenUploadRecord => ({
  id: row.id,
  repository: row.repository,
  kind: row.kind,
  owner: row.owner,
  reservedBytes: String(row.size ?? 0),
  storedBytes: String(row.stored_bytes ?? 0),
  sending: row.turn_until !== null && row.turn_until > now,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
})

/** A page of uploads that are under way, of everyone, ordered by id. */
export const listOpenUploads = async (
  { database, clock }: Deps,
  { start, limit }: { readonly start: Start; readonly limit: number },
): Promise<{ items: OpenUploadRecord[]; next: string | null }> => {
  const rows = await openUploadsPage(database.reader, start, limit)
  const now = timestamp(clock.now())
  const last = rows.length < limit ? undefined : rows.at(-1)
  return {
    items: rows.map((row) => recordOf(row, now)),
    next: last === undefined ? null : cursorAt(start.order, last.id),
  }
}

/**
 * Cancels an upload, whoever began it; again changes nothing. A transfer by path loses its reservation, so that its
 * request fails. 404 for what is no upload any more, 409 `upload_state` for a published one.
 */
export const cancelAnyUpload = ({ database, clock }: Deps, actor: Actor, id: string): Promise<void> =>
  changeAuthority(database, actor, async (tx) => {
    const row = await lockUpload(tx, id)
    if (row === undefined) throw notFound('upload')
    if (row.status === 'available')
      throw new Failure('upload_state', 'The upload is published and cannot be cancelled. Delete the file instead.')
    if (row.status === 'cancelled') return
    const now = timestamp(clock.now())
    if (row.kind !== 'raw') await cancel(tx, row, now)
    else {
      await release(tx, id, now)
      await deleteUpload(tx, id)
    }
    const subject = `repository:${row.repository} upload:${id} owner:${row.owner}`
    await appendSecurityAudit(tx, actor, { action: 'upload.cancel', subject, occurredAt: now })
  })
