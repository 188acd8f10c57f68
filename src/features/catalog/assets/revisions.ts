import type { Transaction } from '../../../database/database.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { Failure } from '../../../kernel/failure.ts'
import { revisionMax } from '../../../kernel/limits/catalog.ts'
import { second } from '../../../kernel/units.ts'
import { refreshEntry } from '../search/entries.ts'
import { insertRevision, type RevisionRow } from './assets.queries.ts'
import { deleteRemovedRow, findRemovedRow } from './removal.queries.ts'

/** A revision with who made it and when; `sourceRevision` is the one that it brought back, if it did. */
export interface AssetRevision {
  readonly path: string
  readonly revision: number
  readonly artifactId: string
  readonly actor: string | null
  readonly createdAt: string | null
  readonly sourceRevision: number | null
  /** The path shows nothing since; `artifactId` is what it showed until then. Left out of all others. */
  readonly removed?: true
  /** What the file was said to be; left out where nothing was said. */
  readonly mediaType?: string
}

export const toRevision = (row: RevisionRow): AssetRevision => ({
  path: row.path,
  revision: row.revision,
  artifactId: row.artifact_id,
  actor: row.actor,
  createdAt: row.created_at,
  sourceRevision: row.source_revision,
  ...(row.removed === 1 ? { removed: true } : {}),
  ...(row.media_type === null ? {} : { mediaType: row.media_type }),
})

/** What a path is to show from now on. */
export interface RevisionChange {
  readonly repository: string
  readonly path: string
  readonly artifactId: string
  /** The revision that it shows now, if one. */
  readonly current: Pick<RevisionRow, 'revision' | 'artifact_id' | 'created_at'> | undefined
  /** Search was told already that the path shows the file. */
  readonly knownThere?: true
  /** The revision that is brought back, if one is. */
  readonly sourceRevision: number | null
  /** What it is said to be. */
  readonly mediaType: string | null
  readonly actor: string
}

export const otherRevision = (path: string, current: number): Failure =>
  new Failure(
    'revision_mismatch',
    `${JSON.stringify(path)} ${current === 0 ? 'shows nothing' : `is at revision ${current}`}; read it again, then decide.`,
  )

/** 409 `revision_mismatch` after the last one. */
export const nextRevision = (path: string, revision: number): number => {
  if (revision < revisionMax) return revision + 1
  throw new Failure('revision_mismatch', `${JSON.stringify(path)} is at revision ${revisionMax}, which is the last.`)
}

/**
 * When a revision is made: now; or, where the clock was turned back, the first full second after the one before, since
 * clients tell files apart by a date in seconds.
 */
export const timeAfter = (before: string | undefined, now: string): string =>
  before === undefined || now >= before ? now : timestamp((Math.floor(Date.parse(before) / second) + 1) * second)

/**
 * The next revision of a path, what search knows of the files that it shows and showed, and its line in the journal
 * (I4). One that was removed is numbered on. The caller holds the lock of the repository. 409 `revision_mismatch` after
 * the last one.
 */
export const addRevision = async (tx: Transaction, change: RevisionChange, now: string): Promise<RevisionRow> => {
  const { repository, path, artifactId, current, sourceRevision, mediaType, actor } = change
  const removed = current === undefined ? await findRemovedRow(tx, repository, path) : undefined
  if (removed !== undefined) await deleteRemovedRow(tx, change)
  const row: RevisionRow = {
    repository,
    path,
    revision: nextRevision(path, removed?.revision ?? current?.revision ?? 0),
    artifact_id: artifactId,
    actor,
    created_at: timeAfter(removed?.removed_at ?? current?.created_at, now),
    source_revision: sourceRevision,
    removed: 0,
    media_type: mediaType,
  }
  await insertRevision(tx, row, removed?.oldest ?? 1)
  const showed = current?.artifact_id
  if (showed !== artifactId && showed !== undefined) await refreshEntry(tx, showed)
  if (showed !== artifactId && change.knownThere !== true) await refreshEntry(tx, artifactId)
  const action = sourceRevision === null ? 'asset.replace' : 'asset.restore'
  await appendJournal(tx, { repository, action, artifactId, detail: path, actor, occurredAt: now })
  return row
}
