import type { Transaction } from '../../../database/database.ts'
import { appendStorageEvent } from '../../../journal/storage-events/storage-events.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { Failure } from '../../../kernel/failure.ts'
import { type Deletion, type DeletionDeps, deleteEach } from '../deletion/deletion.ts'
import type { Eligibility } from '../deletion/eligibility.ts'
import { criteriaOf } from './age.ts'
import { lookAt } from './beyond.ts'
import { judge } from './judgement.ts'
import {
  type ByKind,
  byKind,
  type Counts,
  countDetails,
  countTold,
  type KeptKind,
  lookedAt,
  nothingYet,
  type Selected,
  type ShownThing,
  selectThings,
  type ThingTold,
} from './kept-kinds.ts'
import { type ScheduleChange, updateSchedule } from './policy.queries.ts'
import { policyOf, refuseOtherRevision, type SavedPolicy } from './policy.ts'
import { type Selection, select } from './selection.ts'
import { packageVersions } from './versions.ts'
import type { KeepRules } from './vocabulary.ts'

export interface RunDeps extends DeletionDeps {
  readonly keptKinds: readonly KeptKind[]
}

/** What the saved policy would delete now, also while it is disabled. */
export const previewRun = async (
  { database, clock, keptKinds }: Pick<RunDeps, 'database' | 'clock' | 'keptKinds'>,
  repository: string,
): Promise<Selection & { readonly revision: number; readonly things: ByKind<readonly ShownThing[]> }> => {
  const { revision, policy } = await policyOf(database.reader, repository)
  const { files, hasMore } = await select(database.reader, repository, policy, clock.now())
  const found = await selectThings(keptKinds, database.reader, repository, policy, clock.now())
  const things = byKind((): ShownThing[] => [])
  for (const { kind, things: some } of found.selected)
    things[kind.name].push(...(await kind.show(database.reader, some)))
  return { revision, files, things, hasMore: hasMore || found.hasMore }
}

const refuseUnlessRunnable = ({ revision, policy }: SavedPolicy, expectedRevision: number): void => {
  refuseOtherRevision(revision, expectedRevision)
  if (!policy.enabled)
    throw new Failure('policy_disabled', 'The policy is disabled: look at its preview, enable it, then run it.')
}

/** What a run made of what it found. */
export interface RunTold {
  readonly files: readonly Deletion[]
  readonly things: ByKind<readonly ThingTold[]>
}

/** Deletes what the policy would delete now. 409 `revision_mismatch`, 409 `policy_disabled`. */
export const runPolicy = async (
  deps: RunDeps,
  repository: string,
  expectedRevision: number,
  actor: string,
): Promise<RunTold> => {
  const { database, clock, keptKinds } = deps
  const saved = await policyOf(database.reader, repository)
  refuseUnlessRunnable(saved, expectedRevision)
  const { files } = await select(database.reader, repository, saved.policy, clock.now())
  const { selected } = await selectThings(keptKinds, database.reader, repository, saved.policy, clock.now())
  return database.transaction((tx) =>
    deleteSelected(deps, tx, repository, {
      rules: saved.policy,
      files,
      selected,
      before: nothingYet,
      actor,
      trigger: 'manual',
      stillWanted: (_, policy) => refuseUnlessRunnable(policy, expectedRevision),
      change: {},
    }),
  )
}

/** A run that is about to delete. */
export interface Run {
  /** What the policy said when things were selected. */
  readonly rules: KeepRules
  readonly files: readonly Eligibility[]
  readonly selected: readonly Selected[]
  /** What the run did to things of other kinds in transactions before this one. */
  readonly before: Counts
  readonly actor: string
  readonly trigger: 'manual' | 'schedule'
  /** Throws unless the policy, read again under the lock, is the same and asks for this run. */
  readonly stillWanted: (tx: Transaction, policy: SavedPolicy) => void | Promise<void>
  /** What else becomes of the schedule. */
  readonly change: ScheduleChange
}

/**
 * Deletes what was selected and is still to go, in one transaction with its record. Policy and selection were read
 * without a lock; both are read again under the lock of the repository, without which nothing is deleted, restored or
 * given what keeps it. So a version that is kept by count now is not deleted, whatever was published or deleted in
 * between. Things of other kinds are judged again, too, by who has them.
 */
export const deleteSelected = async (
  deps: Pick<DeletionDeps, 'clock' | 'cleanupGraceMs'>,
  tx: Transaction,
  repository: string,
  { rules, files, selected, before, actor, trigger, stillWanted, change }: Run,
): Promise<RunTold> => {
  const nowMs = deps.clock.now()
  const unwanted = files.map(({ row, annotationRevision }) => ({ id: row.id, annotationRevision }))
  const criteria = criteriaOf(rules, nowMs)
  const beyondCount = async (locked: Transaction): Promise<ReadonlySet<string>> => {
    await stillWanted(locked, await policyOf(locked, repository))
    const look = lookAt(packageVersions(locked, repository), rules, nowMs)
    const ids = unwanted.map(({ id }) => id)
    const judged = [...(await judge(locked, repository, look, ids))]
    return new Set(judged.flatMap(([id, { keptBy }]) => (keptBy.length === 0 ? [id] : [])))
  }
  for (const { kind, things } of selected) await kind.lock(tx, things)
  const told = await deleteEach(deps, tx, repository, { unwanted, criteria, mayGo: beyondCount }, actor)
  const things = byKind((): ThingTold[] => [])
  let counts = before
  for (const { kind, things: some } of selected) {
    const removed = await kind.remove(tx, repository, { rules, things: some, actor, nowMs })
    things[kind.name].push(...removed)
    counts = countTold(counts, kind.name, removed)
  }
  const now = timestamp(nowMs)
  const deleted = told.filter(({ outcome }) => outcome === 'deleted').length
  const record = {
    ...{ last_run_at: now, last_deleted: deleted },
    last_deleted_images: counts.images.deleted,
    last_deleted_npm_versions: counts.npmVersions.deleted,
  }
  await updateSchedule(tx, repository, { ...record, ...change })
  // A schedule that finds nothing would push out everything else that operators are told.
  if (trigger === 'schedule' && told.length + lookedAt(counts) === 0) return { files: told, things }
  const details = { trigger, actor, deleted, kept: told.length - deleted, ...countDetails(counts) }
  await appendStorageEvent(tx, { repository, level: 'info', code: 'run.finished', details, occurredAt: now })
  return { files: told, things }
}
