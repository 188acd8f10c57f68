import { type Plan, planParts } from '../../content/part-plan.ts'
import type { Transaction } from '../../database/database.ts'
import type { UploadsTable } from '../../database/tables/uploads.ts'
import { type Sha256, toSha256 } from '../../kernel/digest.ts'
import { notFound } from '../../kernel/failure.ts'
import { type ArtifactRecord, toRecord } from './descriptor.ts'
import { lockUpload } from './uploads.queries.ts'

/** Whose upload, and where. */
export interface UploadScope {
  readonly repository: string
  readonly owner: string
}

/** An upload session: its size and digest are declared. */
export type Session = UploadsTable & { size: number; sha256: string }

/** Only raw transfers lack size and digest. */
export const sessionOf = (row: UploadsTable): Session => {
  const { size, sha256 } = row
  if (size === null || sha256 === null) throw new Error(`upload ${row.id} is no session`)
  return { ...row, size, sha256 }
}

export const recordOf = (row: UploadsTable): ArtifactRecord => toRecord(sessionOf(row), row.status)

/** The session as `content/` sees it: what it will be, in which parts, under which claim. */
export const blobOf = (session: Session): Plan & { claimId: string; digest: Sha256 } => ({
  ...planParts(session.size),
  claimId: session.id,
  digest: toSha256(session.sha256),
})

/** Locks a session of this caller; 404 for everything else. */
export const lockOwn = async (tx: Transaction, scope: UploadScope, id: string): Promise<Session> => {
  const row = await lockUpload(tx, id)
  if (row?.repository !== scope.repository || row.owner !== scope.owner || row.kind !== 'session')
    throw notFound('upload')
  return sessionOf(row)
}
