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
  countTold,
  type ImageCount,
  type ImageTold,
  type KeptKind,
  noImages,
  type Selected,
  type ShownImage,
  selectImages,
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
): Promise<Selection & { readonly revision: number; readonly images: readonly ShownImage[] }> => {
  const { revision, policy } = await policyOf(database.reader, repository)
  const { files, hasMore } = await select(database.reader, repository, policy, clock.now())
  const found = await selectImages(keptKinds, database.reader, repository, policy, clock.now())
  const images: ShownImage[] = []
  for (const each of found.selected) images.push(...(await each.kind.show(database.reader, each.images)))
  return { revision, files, images, hasMore: hasMore || found.hasMore }
}

const refuseUnlessRunnable = ({ revision, policy }: SavedPolicy, expectedRevision: number): void => {
  refuseOtherRevision(revision, expectedRevision)
  if (!policy.enabled)
    throw new Failure('policy_disabled', 'The policy is disabled: look at its preview, enable it, then run it.')
}

/** What a run made of what it found. */
export interface RunTold {
  readonly files: readonly Deletion[]
  readonly images: readonly ImageTold[]
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
  const { selected } = await selectImages(keptKinds, database.reader, repository, saved.policy, clock.now())
  return database.transaction((tx) =>
    deleteSelected(deps, tx, repository, {
      rules: saved.policy,
      files,
      selected,
      imagesBefore: noImages,
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
  /** What the run did to images in transactions before this one. */
  readonly imagesBefore: ImageCount
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
 * between. Images are judged again, too, by who has them.
 */
export const deleteSelected = async (
  deps: Pick<DeletionDeps, 'clock' | 'cleanupGraceMs'>,
  tx: Transaction,
  repository: string,
  { rules, files, selected, imagesBefore, actor, trigger, stillWanted, change }: Run,
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
  const told = await deleteEach(deps, tx, repository, { unwanted, criteria, mayGo: beyondCount }, actor)
  const images: ImageTold[] = []
  for (const { kind, images: unwantedImages } of selected)
    images.push(...(await kind.remove(tx, repository, { rules, images: unwantedImages, actor, nowMs })))
  const now = timestamp(nowMs)
  const deleted = told.filter(({ outcome }) => outcome === 'deleted').length
  const counted = countTold(imagesBefore, images)
  const record = { last_run_at: now, last_deleted: deleted, last_deleted_images: counted.deleted }
  await updateSchedule(tx, repository, { ...record, ...change })
  const lookedAt = counted.deleted + counted.kept
  // A schedule that finds nothing would push out everything else that operators are told.
  if (trigger === 'schedule' && told.length + lookedAt === 0) return { files: told, images }
  const details = {
    ...{ trigger, actor, deleted, kept: told.length - deleted },
    ...(lookedAt === 0 ? {} : { imagesDeleted: counted.deleted, imagesKept: counted.kept }),
  }
  await appendStorageEvent(tx, { repository, level: 'info', code: 'run.finished', details, occurredAt: now })
  return { files: told, images }
}
