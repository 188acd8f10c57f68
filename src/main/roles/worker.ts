import { reclaim } from '../../content/reclaim.ts'
import { settleSessions } from '../../features/accounts/jobs.ts'
import { settleDeletions } from '../../features/artifacts/jobs.ts'
import { settleLinkKeys } from '../../features/links/jobs.ts'
import { runDuePolicies } from '../../features/retention/jobs.ts'
import { watchQuotas } from '../../features/retention/quota.ts'
import { judgeCompletion, runCompletion } from '../../features/uploads/completion.ts'
import { settleUploads, sweepUploads } from '../../features/uploads/jobs.ts'
import { forgetJobs } from '../../jobs/leases.ts'
import { startReconciler } from '../../jobs/reconciler.ts'
import { type JobKind, runDueJobs } from '../../jobs/runner.ts'
import { forgetOldLines } from '../../journal/retention.ts'
import { forgetStorageEvents } from '../../journal/storage-events.ts'
import { jobsEveryMs, retentionEveryMs, upkeepEveryMs } from '../../kernel/limits.ts'
import type { Parts } from '../parts.ts'
import { translate } from '../translate.ts'

/** Upkeep: what has to happen although nobody asks for it. Any number of workers may run on one database. */
export const startWorker = (given: Parts): { stop(): Promise<void> } => {
  const parts: Parts = { ...given, database: given.database.patient }
  const { database, clock, store, report, settings } = parts
  const uploads = { database, clock, store, cleanupGraceMs: settings.cleanupGraceMs }
  const { maxObjectBytes, capacityBytes, uploadSharePercent } = settings
  const transfers = { ...parts, maxObjectBytes, capacityBytes, uploadSharePercent }
  const completion: JobKind = {
    kind: 'completion',
    run: (job) => runCompletion(transfers, job),
    judge: (error) => judgeCompletion(translate(error) ?? error),
  }
  let stopping = false
  const completions = startReconciler({
    name: 'the completion of uploads',
    everyMs: jobsEveryMs,
    report,
    run: () => runDueJobs(parts, completion, () => stopping),
  })
  const reconcilers = [
    completions,
    startReconciler({
      name: 'the upkeep of uploads',
      everyMs: upkeepEveryMs,
      report,
      run: async () => {
        await settleUploads(uploads)
        await sweepUploads(uploads)
        await settleDeletions(uploads)
        await reclaim(parts, () => stopping)
      },
    }),
    startReconciler({
      name: 'the schedule of storage policies',
      everyMs: upkeepEveryMs,
      report,
      run: async () => {
        await watchQuotas({ database, clock })
        await runDuePolicies({ database, clock, report, cleanupGraceMs: settings.cleanupGraceMs }, () => stopping)
        await forgetStorageEvents(database)
      },
    }),
    startReconciler({
      name: 'the upkeep of link keys',
      everyMs: upkeepEveryMs,
      report,
      run: () => settleLinkKeys({ database, clock }),
    }),
    startReconciler({
      name: 'the retention of journals',
      everyMs: retentionEveryMs,
      report,
      run: () => forgetOldLines({ database, clock, ...settings }, () => stopping),
    }),
    startReconciler({
      name: 'the upkeep of sessions and jobs',
      everyMs: upkeepEveryMs,
      report,
      run: async () => {
        await settleSessions({ database, clock })
        await forgetJobs({ database, clock })
      },
    }),
  ]
  const deaf = parts.jobsWaiting.listen(() => completions.wake())
  return {
    async stop() {
      stopping = true
      deaf()
      await Promise.all(reconcilers.map((reconciler) => reconciler.stop()))
    },
  }
}
