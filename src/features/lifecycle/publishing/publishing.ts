import type { Transaction } from '../../../database/database.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { putEntry, searchable } from '../../catalog/search/entries.ts'
import { insertArtifact } from './publishing.queries.ts'

/**
 * The row of a published file, what search knows of it, and its line in the journal (I4). `path` is one that will show
 * it when the transaction ends: whoever points it there says so here, and search is told once.
 */
export const publishArtifact = async (
  tx: Transaction,
  row: Pick<UploadsTable, 'id' | 'repository' | 'name' | 'labels' | 'metadata' | 'created_at' | 'expires_at'> & {
    size: number
    sha256: string
  },
  actor: string,
  now: string,
  path?: string,
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
  const paths = JSON.stringify(path === undefined ? [] : [path])
  await putEntry(tx, searchable({ id, repository, name, sha256, labels, metadata, collections: null, paths }))
  await appendJournal(tx, {
    repository,
    action: 'artifact.publish',
    artifactId: id,
    detail: null,
    actor,
    occurredAt: now,
  })
}
