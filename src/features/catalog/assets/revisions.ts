import type { Transaction } from '../../../database/database.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { Failure } from '../../../kernel/failure.ts'
import { revisionMax } from '../../../kernel/limits/catalog.ts'
import { insertRevision, type RevisionRow } from './assets.queries.ts'

/** What a path is to show from now on. */
export interface RevisionChange {
  readonly repository: string
  readonly path: string
  readonly artifactId: string
  /** The revision that it shows now, 0 for none. */
  readonly current: number
  /** The revision that is brought back, if one is. */
  readonly sourceRevision: number | null
  readonly actor: string
}

export const otherRevision = (path: string, current: number): Failure =>
  new Failure('revision_mismatch', `${JSON.stringify(path)} is at revision ${current}; read it again, then decide.`)

/**
 * The next revision of a path, and its line in the journal (I4). The caller holds the lock of the repository. 409
 * `revision_mismatch` after the last one.
 */
export const addRevision = async (tx: Transaction, change: RevisionChange, now: string): Promise<RevisionRow> => {
  const { repository, path, artifactId, current, sourceRevision, actor } = change
  if (current === revisionMax)
    throw new Failure('revision_mismatch', `${JSON.stringify(path)} is at revision ${revisionMax}, which is the last.`)
  const row: RevisionRow = {
    repository,
    path,
    revision: current + 1,
    artifact_id: artifactId,
    actor,
    created_at: now,
    source_revision: sourceRevision,
  }
  await insertRevision(tx, row)
  const action = sourceRevision === null ? 'asset.replace' : 'asset.restore'
  await appendJournal(tx, { repository, action, artifactId, detail: path, actor, occurredAt: now })
  return row
}
