import { lockRepository } from '../../../database/locks.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { notFound } from '../../../kernel/failure.ts'
import { refreshEntry } from '../search/entries.ts'
import type { RevisionRow } from './assets.queries.ts'
import type { AssetDeps } from './assets.ts'
import { contentAt } from './content.ts'
import { nothingAt } from './nothing-at.ts'
import { type Preconditions, refuseUnlessAsExpected } from './preconditions.ts'
import { insertRemoval } from './removal.queries.ts'
import { type AssetRevision, nextRevision, otherRevision, timeAfter, toRevision } from './revisions.ts'

interface Unwanted {
  readonly path: string
  /** Only this revision is removed; undefined removes whatever is there. */
  readonly expectedRevision: number | undefined
  readonly expects: Preconditions
}

/**
 * Ends a path: its next revision says that it shows nothing, and it is listed no more. The history stays, and goes on
 * to keep its files. 404 for a path that shows nothing, 409 `revision_mismatch` for another revision than the expected
 * one, 412 as {@link refuseUnlessAsExpected} says.
 */
export const removePath = (
  { database, clock }: AssetDeps,
  repository: string,
  { path, expectedRevision, expects }: Unwanted,
  actor: string,
): Promise<AssetRevision> =>
  database.transaction(async (tx) => {
    if (!(await lockRepository(tx, repository))) throw notFound('repository')
    const current = await contentAt(tx, repository, path)
    if (current === undefined) throw await nothingAt(tx, repository, path)
    refuseUnlessAsExpected(path, expects, current)
    if (expectedRevision !== undefined && expectedRevision !== current.revision)
      throw otherRevision(path, current.revision)
    const now = timestamp(clock.now())
    const row: RevisionRow = {
      repository,
      path,
      revision: nextRevision(path, current.revision),
      artifact_id: current.artifact_id,
      actor,
      created_at: timeAfter(current.created_at, now),
      source_revision: null,
      removed: 1,
      media_type: null,
    }
    await insertRemoval(tx, row)
    await refreshEntry(tx, row.artifact_id)
    const line = { repository, artifactId: row.artifact_id, detail: path, actor, occurredAt: now }
    await appendJournal(tx, { ...line, action: 'asset.remove' })
    return toRevision(row)
  })
