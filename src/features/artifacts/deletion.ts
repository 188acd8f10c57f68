import { lockLive, retire, revive } from '../../content/claims.ts'
import { graceEndMs } from '../../content/grace.ts'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import type { ArtifactsTable } from '../../database/tables/artifacts.ts'
import { appendJournal } from '../../journal/journal.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { notFound } from '../../kernel/failure.ts'
import { annotationRevision } from '../annotations/annotations.ts'
import { refreshEntry, removeEntry } from '../search/entries.ts'
import { findArtifactRow } from './artifacts.queries.ts'
import { findDeleted, graceHoursOf, isInPathHistory, lockPaths, moveBack, moveToDeleted } from './deletion.queries.ts'

/**
 * Deleting is logical: the row moves aside, the claim is retired, and whoever asks for the file finds none. Until the grace
 * period of the repository is over it can be brought back; then its claim is released, and reclaim removes the bytes
 * unless others hold them.
 */
export interface DeletionParts {
  readonly database: Database
  readonly clock: Clock
  /** The server's grace period. */
  readonly cleanupGraceMs: number
}

/** What may stand in the way of a deletion, in the order in which it is told. */
export const blockers = [
  'reference',
  'asset_history',
  'attachment_history',
  'protected_label',
  'promotion_stage',
] as const
type Blocker = (typeof blockers)[number]

export const outcomes = ['deleted', 'already_deleted', 'protected', 'changed', 'not_eligible', 'not_found'] as const

export interface Deletion {
  readonly id: string
  readonly outcome: (typeof outcomes)[number]
  readonly blockers: Blocker[]
  /** Until when it can surely be brought back; null where nothing is to be. */
  readonly restorableUntil: string | null
}

export interface Eligibility {
  readonly id: string
  readonly name: string
  readonly size: string
  readonly publishedAt: string
  readonly annotationRevision: number
  readonly blockers: Blocker[]
}

/**
 * What is known of a file as far as its deletion is concerned: the one function that the check shows and the deletion
 * follows, so that what is shown is what happens.
 */
const eligibility = async (q: Queries, row: ArtifactsTable): Promise<Eligibility> => ({
  id: row.id,
  name: row.name,
  size: String(row.size),
  publishedAt: row.published_at,
  annotationRevision: await annotationRevision(q, row.id),
  blockers: (await isInPathHistory(q, row.id)) ? ['asset_history'] : [],
})

/** What deleting the file would meet; nothing changes. 404 for what is not published. */
export const checkDeletion = async (parts: DeletionParts, repository: string, id: string): Promise<Eligibility> => {
  const row = await findArtifactRow(parts.database.reader, repository, id)
  if (row === undefined) throw notFound('artifact')
  return eligibility(parts.database.reader, row)
}

/** Deletes a file unless something stands in the way. Repeating it is harmless. 404 for what never was a file here. */
export const deleteArtifact = (
  parts: DeletionParts,
  repository: string,
  wanted: { readonly id: string; readonly annotationRevision: number },
  actor: string,
): Promise<Deletion> =>
  parts.database.transaction(async (tx) => {
    const { id } = wanted
    const nothing = { id, blockers: [], restorableUntil: null }
    await lockLive(tx, id)
    await lockPaths(tx, repository)
    const row = await findArtifactRow(tx, repository, id)
    if (row === undefined) {
      const restorableUntil = await restorableUntilOf(parts, tx, repository, id)
      return { ...nothing, outcome: 'already_deleted', restorableUntil }
    }
    const found = await eligibility(tx, row)
    if (found.annotationRevision !== wanted.annotationRevision) return { ...nothing, outcome: 'changed' }
    if (found.blockers.length > 0) return { ...nothing, outcome: 'protected', blockers: found.blockers }
    const now = timestamp(parts.clock.now())
    await retire(tx, id, now)
    await moveToDeleted(tx, row, now)
    await removeEntry(tx, id)
    await tell(tx, 'artifact.delete', { repository, id, actor, now })
    const restorableUntil = await restorableUntilOf(parts, tx, repository, id)
    return { ...nothing, outcome: 'deleted', restorableUntil }
  })

/** 404 for what was never deleted here. */
const restorableUntilOf = async (
  parts: DeletionParts,
  q: Queries,
  repository: string,
  id: string,
): Promise<string | null> => {
  const deleted = await findDeleted(q, repository, id)
  if (deleted === undefined) throw notFound('artifact')
  if (deleted.released_at !== null) return null
  return timestamp(graceEndMs(deleted.deleted_at, await graceHoursOf(q, repository), parts.cleanupGraceMs))
}

/**
 * Brings a deleted file back, as it was. Harmless for one that is there. 404 when it never was, or when the grace period
 * is over and its bytes were given up.
 */
export const restoreArtifact = (
  parts: DeletionParts,
  repository: string,
  id: string,
  actor: string,
): Promise<ArtifactsTable> =>
  parts.database.transaction(async (tx) => {
    // Its claim says what it is, to those as well who delete or release it at the same time.
    if (await lockLive(tx, id)) {
      const row = await findArtifactRow(tx, repository, id)
      if (row === undefined) throw notFound('artifact')
      return row
    }
    const deleted = await findDeleted(tx, repository, id)
    if (deleted === undefined || !(await revive(tx, id))) throw notFound('artifact')
    await moveBack(tx, deleted)
    await refreshEntry(tx, id)
    await tell(tx, 'artifact.restore', { repository, id, actor, now: timestamp(parts.clock.now()) })
    return deleted
  })

const tell = (
  tx: Transaction,
  action: 'artifact.delete' | 'artifact.restore',
  { repository, id, actor, now }: { repository: string; id: string; actor: string; now: string },
): Promise<void> => appendJournal(tx, { repository, action, artifactId: id, detail: null, actor, occurredAt: now })
