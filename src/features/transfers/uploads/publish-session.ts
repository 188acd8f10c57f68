import type { Transaction } from '../../../database/database.ts'
import { endJobOf } from '../../../jobs/enqueue.ts'
import { publishArtifact } from '../../lifecycle/publishing/publishing.ts'
import type { UploadLease } from './lease.ts'
import type { Session } from './session.ts'
import { updateUpload } from './uploads.queries.ts'

/** What is left to do when a session's bytes are published: its artifact, its state, and a job that wanted the same. */
export const publishSession = async (
  tx: Transaction,
  session: Session,
  lease: UploadLease,
  now: string,
): Promise<void> => {
  await lease.end(tx)
  await publishArtifact(tx, session, session.owner, now)
  await updateUpload(tx, session.id, { status: 'available', ended_at: now })
  await endJobOf(tx, 'completion', session.id, now, null)
}
