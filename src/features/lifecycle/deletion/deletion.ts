import { lockLive, retire, revive } from '../../../content/claims/claims.ts'
import { graceEndMs } from '../../../content/reclaim/grace.ts'
import type { Database, Queries, Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import type { ArtifactsTable } from '../../../database/tables/artifacts.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { notFound } from '../../../kernel/failure.ts'
import { publishedArtifact } from '../../catalog/artifacts/artifacts.ts'
import { freeVersion, takeVersionBack } from '../../catalog/packages/versions.ts'
import { refreshEntry, removeEntry } from '../../catalog/search/entries.ts'
import { findDeleted, graceHoursOf, moveBack, moveToDeleted } from './deletion.queries.ts'
import { type Criteria, type Eligibility, eligibilityOf } from './eligibility.ts'
import type { Blocker, Outcome } from './vocabulary.ts'

/**
 * Deleting is logical: the row moves aside, the claim is retired, and whoever asks for the file finds none. Until the
 * grace period of the repository is over it can be brought back; then its claim is released, and reclaim removes the
 * bytes unless others hold them.
 */
export interface DeletionDeps {
  readonly database: Database
  readonly clock: Clock
  /** The server's grace period. */
  readonly cleanupGraceMs: number
}

export interface Deletion {
  readonly id: string
  readonly outcome: Outcome
  readonly blockers: Blocker[]
  /** Until when it can surely be brought back; null where nothing is to be. */
  readonly restorableUntil: string | null
}

/** A file that somebody wants deleted, as they saw it. */
export interface Unwanted {
  readonly id: string
  readonly annotationRevision: number
}

/** Files that somebody wants deleted, and what is asked of them first. */
interface Unwelcome {
  readonly unwanted: readonly Unwanted[]
  readonly criteria: Criteria | null
  readonly mayGo?: (tx: Transaction) => Promise<ReadonlySet<string>>
}

/** What deleting the file would meet; nothing changes. 404 for what is not published. */
export const checkDeletion = async (
  deps: Pick<DeletionDeps, 'database'>,
  repository: string,
  id: string,
): Promise<Eligibility> => {
  const found = (await eligibilityOf(deps.database.reader, repository, [id], null)).get(id)
  if (found === undefined) throw notFound('artifact')
  return found
}

/** Deletes a file unless something stands in the way. Repeating it is harmless. 404 for what never was a file here. */
export const deleteArtifact = (
  deps: DeletionDeps,
  repository: string,
  unwanted: Unwanted,
  actor: string,
): Promise<Deletion> =>
  deps.database.transaction(async (tx) => {
    const [told] = await deleteEach(deps, tx, repository, { unwanted: [unwanted], criteria: null }, actor)
    if (told === undefined || told.outcome === 'not_found') throw notFound('artifact')
    return told
  })

/**
 * Deletes those of the files that may go, in the caller's transaction, and tells of each what became of it, in the
 * order asked. Takes the locks of all claims in the order of their ids, then that of the repository: the caller has
 * taken none. `mayGo` is asked under these locks, and what it leaves out is `not_eligible`: for rules that look at more
 * than the file.
 */
export const deleteEach = async (
  deps: Pick<DeletionDeps, 'clock' | 'cleanupGraceMs'>,
  tx: Transaction,
  repository: string,
  { unwanted, criteria, mayGo }: Unwelcome,
  actor: string,
): Promise<Deletion[]> => {
  const ids = unwanted.map(({ id }) => id)
  for (const id of ids.toSorted()) await lockLive(tx, id)
  await lockRepository(tx, repository)
  const allowed = await mayGo?.(tx)
  const found = await eligibilityOf(tx, repository, ids, criteria)
  const now = timestamp(deps.clock.now())
  const told: Deletion[] = []
  for (const { id, annotationRevision } of unwanted) {
    const file = found.get(id)
    const ruledOut = allowed?.has(id) === false
    const outcome = file === undefined ? null : ruledOut ? 'not_eligible' : outcomeFor(file, annotationRevision)
    if (file === undefined || outcome === null) {
      told.push(await tellOfMissing(deps, tx, repository, id))
    } else if (outcome !== 'deleted') {
      told.push({ id, outcome, blockers: outcome === 'protected' ? file.blockers : [], restorableUntil: null })
    } else {
      await putAside(tx, file.row, actor, now)
      found.delete(id)
      told.push({ ...(await tellOfMissing(deps, tx, repository, id)), outcome })
    }
  }
  return told
}

/** Deletes a file that nothing keeps. The caller holds the locks of its claim and its repository, and has made sure. */
export const putAside = async (tx: Transaction, row: ArtifactsTable, actor: string, now: string): Promise<void> => {
  await retire(tx, row.id, now)
  await freeVersion(tx, row.id)
  await moveToDeleted(tx, row, now)
  await removeEntry(tx, row.id)
  await tell(tx, 'artifact.delete', { repository: row.repository, id: row.id, actor, now })
}

/** What is fixed comes before what may change, and what was seen before what is there. */
const outcomeFor = (
  { oldEnough, annotationRevision, blockers }: Eligibility,
  seenRevision: number,
): 'deleted' | 'protected' | 'changed' | 'not_eligible' => {
  if (!oldEnough) return 'not_eligible'
  if (annotationRevision !== seenRevision) return 'changed'
  return blockers.length > 0 ? 'protected' : 'deleted'
}

/** Of a file that is not published: whether it was, and until when it can be brought back. */
const tellOfMissing = async (
  deps: Pick<DeletionDeps, 'cleanupGraceMs'>,
  q: Queries,
  repository: string,
  id: string,
): Promise<Deletion> => {
  const deleted = await findDeleted(q, repository, id)
  if (deleted === undefined) return { id, outcome: 'not_found', blockers: [], restorableUntil: null }
  const told = { id, outcome: 'already_deleted', blockers: [] } as const
  if (deleted.released_at !== null) return { ...told, blockers: [], restorableUntil: null }
  const endMs = graceEndMs(deleted.deleted_at, await graceHoursOf(q, repository), deps.cleanupGraceMs)
  return { ...told, blockers: [], restorableUntil: timestamp(endMs) }
}

/**
 * Brings a deleted file back, as it was. Harmless for one that is there. 404 when it never was, or when the grace
 * period is over and its bytes were given up; 409 `version_exists` when it was a package and another file is that
 * version now.
 */
export const restoreArtifact = (
  deps: DeletionDeps,
  repository: string,
  id: string,
  actor: string,
): Promise<ArtifactsTable> =>
  deps.database.transaction(async (tx) => {
    // Its claim says what it is, to those as well who delete or release it at the same time.
    if (await lockLive(tx, id)) return publishedArtifact(tx, repository, id)
    const deleted = await findDeleted(tx, repository, id)
    if (deleted === undefined || !(await revive(tx, id))) throw notFound('artifact')
    await moveBack(tx, deleted)
    await takeVersionBack(tx, id)
    await refreshEntry(tx, id)
    await tell(tx, 'artifact.restore', { repository, id, actor, now: timestamp(deps.clock.now()) })
    return deleted
  })

const tell = (
  tx: Transaction,
  action: 'artifact.delete' | 'artifact.restore',
  { repository, id, actor, now }: { repository: string; id: string; actor: string; now: string },
): Promise<void> => appendJournal(tx, { repository, action, artifactId: id, detail: null, actor, occurredAt: now })
