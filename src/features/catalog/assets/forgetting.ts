import { lockRepository } from '../../../database/locks.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { revisionsForgotten } from '../../../kernel/limits/catalog.ts'
import type { AssetDeps } from './assets.ts'
import { deleteRevisions, findHistory } from './forgetting.queries.ts'

export interface Forgotten {
  readonly path: string
  /** How many revisions were forgotten by this. */
  readonly forgotten: number
  /** The oldest that is kept; null where none is. */
  readonly oldestRevision: number | null
  /** Whether all up to the one asked for are forgotten: otherwise ask again. */
  readonly done: boolean
}

/**
 * Forgets revisions of a path, oldest first, up to one of them: they can be neither read nor restored, and keep their
 * files no more. So many in one transaction as `revisionsForgotten` says; `done` tells whether that was all. Numbers go
 * on as if nothing was forgotten, repeating it is harmless. 404 for a path that has no history, 409 `revision_mismatch`
 * for what it shows now and what there is not yet.
 */
export const forgetRevisions = (
  { database, clock }: AssetDeps,
  repository: string,
  { path, through }: { readonly path: string; readonly through: number },
  actor: string,
): Promise<Forgotten> =>
  database.transaction(async (tx) => {
    if (!(await lockRepository(tx, repository))) throw notFound('repository')
    const history = await findHistory(tx, repository, path)
    if (history === undefined) throw notFound('path')
    const { table, revision, oldest } = history
    const last = table === 'assets' ? revision - 1 : revision
    if (through > last) throw beyond(path, revision, table === 'assets')
    const end = Math.min(through, oldest + revisionsForgotten - 1)
    const files = end < oldest ? [] : await deleteRevisions(tx, { table, repository, path }, end)
    const occurredAt = timestamp(clock.now())
    for (const artifactId of new Set(files))
      await appendJournal(tx, { repository, action: 'asset.forget', artifactId, detail: path, actor, occurredAt })
    const kept = Math.max(oldest, end + 1)
    return { path, forgotten: files.length, oldestRevision: kept > revision ? null : kept, done: end >= through }
  })

const beyond = (path: string, revision: number, shown: boolean): Failure =>
  new Failure(
    'revision_mismatch',
    shown
      ? `${JSON.stringify(path)} shows revision ${revision}, and what it shows is not forgotten. Remove or replace it first.`
      : `The last revision of ${JSON.stringify(path)} is ${revision}.`,
  )
