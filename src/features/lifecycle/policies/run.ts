import type { Transaction } from '../../../database/database.ts'
import { appendStorageEvent } from '../../../journal/storage-events/storage-events.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { Failure } from '../../../kernel/failure.ts'
import { type Deletion, type DeletionDeps, deleteEach } from '../deletion/deletion.ts'
import type { Eligibility } from '../deletion/eligibility.ts'
import { Cutoffs } from './cutoffs.ts'
import { criteriaOf, judge } from './judgement.ts'
import { type ScheduleChange, updateSchedule } from './policy.queries.ts'
import { policyOf, refuseOtherRevision, type SavedPolicy } from './policy.ts'
import { type Selection, select } from './selection.ts'
import type { KeepRules } from './vocabulary.ts'

/** What the saved policy would delete now, also while it is disabled. */
export const previewRun = async (
  { database, clock }: Pick<DeletionDeps, 'database' | 'clock'>,
  repository: string,
): Promise<Selection & { readonly revision: number }> => {
  const { revision, policy } = await policyOf(database.reader, repository)
  return { revision, ...(await select(database.reader, repository, policy, clock.now())) }
}

const refuseUnlessRunnable = ({ revision, policy }: SavedPolicy, expectedRevision: number): void => {
  refuseOtherRevision(revision, expectedRevision)
  if (!policy.enabled)
    throw new Failure('policy_disabled', 'The policy is disabled: look at its preview, enable it, then run it.')
}

/** Deletes what the policy would delete now. 409 `revision_mismatch`, 409 `policy_disabled`. */
export const runPolicy = async (
  deps: DeletionDeps,
  repository: string,
  expectedRevision: number,
  actor: string,
): Promise<Deletion[]> => {
  const saved = await policyOf(deps.database.reader, repository)
  refuseUnlessRunnable(saved, expectedRevision)
  const { files } = await select(deps.database.reader, repository, saved.policy, deps.clock.now())
  return deps.database.transaction((tx) =>
    deleteSelected(deps, tx, repository, {
      rules: saved.policy,
      files,
      actor,
      trigger: 'manual',
      stillWanted: (_, policy) => refuseUnlessRunnable(policy, expectedRevision),
      change: {},
    }),
  )
}

/** A run that is about to delete. */
export interface Run {
  /** What the policy said when the files were selected. */
  readonly rules: KeepRules
  readonly files: readonly Eligibility[]
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
 * between.
 */
export const deleteSelected = async (
  deps: Pick<DeletionDeps, 'clock' | 'cleanupGraceMs'>,
  tx: Transaction,
  repository: string,
  { rules, files, actor, trigger, stillWanted, change }: Run,
): Promise<Deletion[]> => {
  const nowMs = deps.clock.now()
  const unwanted = files.map(({ row, annotationRevision }) => ({ id: row.id, annotationRevision }))
  const criteria = criteriaOf(rules, nowMs)
  const beyondCount = async (locked: Transaction): Promise<ReadonlySet<string>> => {
    await stillWanted(locked, await policyOf(locked, repository))
    const by = { rules, cutoffs: new Cutoffs(locked, repository, rules), nowMs }
    const ids = unwanted.map(({ id }) => id)
    const judged = [...(await judge(locked, repository, by, ids))]
    return new Set(judged.flatMap(([id, { keptBy }]) => (keptBy.length === 0 ? [id] : [])))
  }
  const told = await deleteEach(deps, tx, repository, { unwanted, criteria, mayGo: beyondCount }, actor)
  const now = timestamp(nowMs)
  const deleted = told.filter(({ outcome }) => outcome === 'deleted').length
  await updateSchedule(tx, repository, { last_run_at: now, last_deleted: deleted, ...change })
  // A schedule that finds nothing would push out everything else that operators are told.
  if (trigger === 'schedule' && told.length === 0) return told
  const details = { trigger, actor, deleted, kept: told.length - deleted }
  await appendStorageEvent(tx, { repository, level: 'info', code: 'run.finished', details, occurredAt: now })
  return told
}
