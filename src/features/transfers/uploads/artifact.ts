import type { Transaction } from '../../../database/database.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import { endJobOf } from '../../../jobs/enqueue.ts'
import { appendJournal } from '../../../journal/journal.ts'
import { putEntry, searchable } from '../../catalog/search/entries.ts'
import type { Session } from './session.ts'
import type { Turn } from './turn.ts'
import { insertArtifact, updateUpload } from './uploads.queries.ts'

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
  await putEntry(tx, searchable({ id, repository, name, labels, metadata, collections: null }))
  await appendJournal(tx, {
    repository,
    action: 'artifact.publish',
    artifactId: id,
    detail: null,
    actor,
    occurredAt: now,
  })
}

/** What is left to do when a session's bytes are published: its artifact, its state, and a job that wanted the same. */
export const publishSession = async (tx: Transaction, session: Session, turn: Turn, now: string): Promise<void> => {
  await turn.end(tx)
  await publishArtifact(tx, session, session.owner, now)
  await updateUpload(tx, session.id, { status: 'available', ended_at: now })
  await endJobOf(tx, 'completion', session.id, now, null)
}
