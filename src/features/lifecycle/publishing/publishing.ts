import type { Transaction } from '../../../database/database.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { putEntry, searchable } from '../../catalog/search/entries.ts'
import { insertArtifact } from './publishing.queries.ts'

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
