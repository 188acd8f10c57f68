import { type Plan, planParts } from '../../../content/assembly/part-plan.ts'
import type { Queries, Transaction } from '../../../database/database.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import { type Sha256, toSha256 } from '../../../kernel/digest.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { publishedAmong } from '../../catalog/artifacts/artifacts.ts'
import { toRecord } from '../../catalog/artifacts/views.ts'
import type { ArtifactRecord } from '../../catalog/artifacts/vocabulary.ts'
import { lockUpload } from './uploads.queries.ts'

/** Whose upload, and where. */
export interface UploadScope {
  readonly repository: string
  readonly owner: string
}

/** An upload session: its size and digest are declared, and it is known what became of it. */
export type Session = Omit<UploadsTable, 'status'> & {
  readonly size: number
  readonly sha256: string
  /** `deleted` is what was published and is no file any more; `available` again when that is restored. */
  readonly status: UploadsTable['status'] | 'deleted'
}

/** Only raw transfers lack size and digest. */
export const described = <Row extends UploadsTable>(row: Row): Row & { size: number; sha256: string } => {
  const { size, sha256 } = row
  if (size === null || sha256 === null) throw new Error(`upload ${row.id} is no session`)
  return { ...row, size, sha256 }
}

/** What became of a session: its row says until it is published; from then on its file does, by being there or not. */
export const sessionOf = async (q: Queries, row: UploadsTable): Promise<Session> => {
  const session = described(row)
  const isGone = row.status === 'available' && !(await publishedAmong(q, row.repository, [row.id])).has(row.id)
  return isGone ? { ...session, status: 'deleted' } : session
}

/** To its creator a session whose file was deleted leads to nothing, like one that was cancelled. */
export const recordOf = (session: Session): ArtifactRecord =>
  toRecord(session, session.status === 'deleted' ? 'cancelled' : session.status)

/** Why a session that has ended takes nothing any more. */
export const ended = ({ status }: Session): Failure =>
  new Failure(
    'upload_state',
    status === 'deleted'
      ? 'The upload was published, and its file deleted since. Start another one, with a new Idempotency-Key.'
      : `The upload is ${status}; it takes nothing any more.`,
  )

/** The session as `content/` sees it: what it will be, in which parts, under which claim. */
export const blobOf = (
  session: Pick<Session, 'id' | 'size' | 'sha256'>,
): Plan & { claimId: string; digest: Sha256 } => ({
  ...planParts(session.size),
  claimId: session.id,
  digest: toSha256(session.sha256),
})

/** Locks a session of this caller; 404 for everything else. */
export const lockOwn = async (tx: Transaction, scope: UploadScope, id: string): Promise<Session> => {
  const row = await lockUpload(tx, id)
  if (row?.repository !== scope.repository || row.owner !== scope.owner || row.kind !== 'session')
    throw notFound('upload')
  return sessionOf(tx, row)
}
