import type { Queries, Transaction } from '../../../database/database.ts'
import type { StoragePoliciesTable } from '../../../database/tables/storage-policies.ts'
import { appendStorageEvent } from '../../../journal/storage-events/storage-events.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { repositoryWith } from '../../catalog/repositories/repositories.ts'
import { standingOfKey } from '../../identity/service-accounts/calling-keys.ts'
import type { DeletionDeps } from '../deletion/deletion.ts'
import { type BatchDeps, deleteInBatches } from './batches.ts'
import { findPolicyRow, lockQuotaRow, updateSchedule } from './policy.queries.ts'
import { nextRun, policyOf, type SavedPolicy } from './policy.ts'
import { deleteSelected } from './run.ts'
import { select } from './selection.ts'

/** The schedule is not what it was when the run began: another worker was faster, or somebody saved the policy. */
class Overtaken extends Error {
  override readonly name = 'Overtaken'
}

/** Who deletes by the clock. The key that it acts for stands in the policy and in the events. */
const actor = 'system:retention'

type Due = StoragePoliciesTable & { readonly next_run_at: string }

/** Why the schedule may not go on; null while the key that enabled it could do the same by itself. */
const refusalOf = async (q: Queries, { repository, key_id }: Due, nowMs: number): Promise<string | null> => {
  if (key_id === null) return 'key_missing'
  const standing = await standingOfKey(q, key_id, nowMs)
  if ('refused' in standing) return standing.refused
  const found = await repositoryWith(q, repository)
  const held = found === null ? undefined : standing.permissions.get(found)
  return held?.has('storage.manage') && held.has('artifact.delete') ? null : 'permission_missing'
}

/**
 * Does what is due of one policy. Files, the record and the time of the next run are one transaction, under the lock of
 * the repository: of several workers one does it, and a crash leaves it to be done. Images and npm versions go before,
 * in batches that look whether the run is still wanted; what is left of them when the process ends is due as it was.
 */
export const runDue = async (deps: BatchDeps, due: Due, stopping: () => boolean = () => false): Promise<void> => {
  const { database, clock } = deps
  try {
    const refused = await refusalOf(database.reader, due, clock.now())
    await (refused === null ? runNow(deps, due, stopping) : stop(deps, due, refused))
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error
  }
}

const runNow = async (deps: BatchDeps, due: Due, stopping: () => boolean): Promise<void> => {
  const { database, clock } = deps
  const { repository } = due
  const { policy } = await policyOf(database.reader, repository)
  const stillWanted = async (locked: Transaction, saved: SavedPolicy): Promise<void> => {
    refuseOvertaken(due, saved)
    if ((await refusalOf(locked, due, clock.now())) !== null) throw new Overtaken()
  }
  const before = await deleteInBatches(deps, repository, { rules: policy, actor, stillWanted }, stopping)
  if (stopping()) return
  const { files } = await select(database.reader, repository, policy, clock.now())
  await database.transaction((tx) =>
    deleteSelected(deps, tx, repository, {
      ...{ rules: policy, files, selected: [], before, actor, stillWanted },
      trigger: 'schedule',
      change: { next_run_at: nextRun(due.interval_minutes, clock.now()), last_error: null },
    }),
  )
}

const refuseOvertaken = (due: Due, saved: SavedPolicy): void => {
  if (saved.revision !== due.revision || saved.nextRunAt !== due.next_run_at) throw new Overtaken()
}

/** Nothing more is deleted by the clock until the policy is saved again. */
const stop = ({ database, clock }: DeletionDeps, due: Due, reason: string): Promise<void> =>
  database.transaction(async (tx) => {
    await lockSchedule(tx, due)
    // Seen without a lock: an account may be enabled again meanwhile, and then the schedule goes on.
    if ((await refusalOf(tx, due, clock.now())) === null) throw new Overtaken()
    await updateSchedule(tx, due.repository, { next_run_at: null, last_error: reason })
    await appendStorageEvent(tx, {
      repository: due.repository,
      level: 'error',
      code: 'schedule.stopped',
      details: { reason, ...(due.key_id === null ? {} : { keyId: due.key_id }), revision: due.revision },
      occurredAt: timestamp(clock.now()),
    })
  })

const lockSchedule = async (tx: Transaction, due: Due): Promise<void> => {
  const repository = await lockQuotaRow(tx, due.repository)
  const row = await findPolicyRow(tx, due.repository)
  if (repository === undefined || row?.revision !== due.revision || row.next_run_at !== due.next_run_at)
    throw new Overtaken()
}

/** A run that failed is told of and tried again when its next time comes. */
export const noteFailedRun = async ({ database, clock }: DeletionDeps, due: Due): Promise<void> => {
  try {
    await database.transaction(async (tx) => {
      await lockSchedule(tx, due)
      const next_run_at = nextRun(due.interval_minutes, clock.now())
      await updateSchedule(tx, due.repository, { next_run_at, last_error: 'run_failed' })
      await appendStorageEvent(tx, {
        repository: due.repository,
        level: 'error',
        code: 'run.failed',
        details: { trigger: 'schedule', revision: due.revision },
        occurredAt: timestamp(clock.now()),
      })
    })
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error
  }
}
