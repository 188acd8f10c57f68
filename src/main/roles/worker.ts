import { watchQuarantine } from '../../content/quarantine.ts'
import { reclaim } from '../../content/reclaim.ts'
import { settleSessions } from '../../features/identity/accounts/jobs.ts'
import { settleLinkKeys } from '../../features/identity/links/jobs.ts'
import { settleDeletions } from '../../features/lifecycle/deletion/jobs.ts'
import { runDuePolicies } from '../../features/lifecycle/policies/jobs.ts'
import { watchQuotas } from '../../features/lifecycle/policies/quota.ts'
import { judgeCompletion, runCompletion } from '../../features/transfers/uploads/completion.ts'
import { settleUploads, sweepUploads } from '../../features/transfers/uploads/jobs.ts'
import { forgetJobs } from '../../jobs/leases.ts'
import type { Reconciler } from '../../jobs/reconciler.ts'
import { type JobKind, runDueJobs } from '../../jobs/runner.ts'
import { startUpkeep, type Upkeep, type UpkeepName } from '../../jobs/upkeep.ts'
import { forgetOldLines } from '../../journal/retention.ts'
import { forgetStorageEvents } from '../../journal/storage-events.ts'
import { jobsEveryMs, retentionEveryMs, upkeepEveryMs } from '../../kernel/limits.ts'
import { quarantineEveryMs } from '../../kernel/upkeep-limits.ts'
import type { Parts } from '../parts.ts'
import { translate } from '../translate.ts'

/** What has to happen although nobody asks for it, each part for itself. */
export const upkeepOf = (parts: Parts, stopping: () => boolean): readonly Upkeep[] => {
  const { database, clock, store, report, settings } = parts
  const { maxObjectBytes, capacityBytes, uploadSharePercent, cleanupGraceMs } = settings
  const common = { database, clock, store, report, cleanupGraceMs }
  const transfers = { ...parts, maxObjectBytes, capacityBytes, uploadSharePercent }
  const completion: JobKind = {
    kind: 'completion',
    run: (job) => runCompletion(transfers, job),
    judge: (error) => judgeCompletion(translate(error) ?? error),
  }
  const soon = upkeepEveryMs
  return [
    { name: 'completions', everyMs: jobsEveryMs, run: () => runDueJobs(parts, completion, stopping) },
    { name: 'uploads', everyMs: soon, run: () => settleUploads(common) },
    { name: 'staging', everyMs: soon, run: () => sweepUploads(common) },
    { name: 'deletions', everyMs: soon, run: () => settleDeletions(common) },
    { name: 'reclaim', everyMs: soon, run: () => reclaim(parts, stopping) },
    { name: 'quarantine', everyMs: quarantineEveryMs, run: () => watchQuarantine(common, stopping) },
    { name: 'quotas', everyMs: soon, run: () => watchQuotas(common) },
    { name: 'policies', everyMs: soon, run: () => runDuePolicies(common, stopping) },
    { name: 'storage_events', everyMs: soon, run: () => forgetStorageEvents(database) },
    { name: 'link_keys', everyMs: soon, run: () => settleLinkKeys(common) },
    { name: 'journals', everyMs: retentionEveryMs, run: () => forgetOldLines({ ...common, ...settings }, stopping) },
    { name: 'sessions', everyMs: soon, run: () => settleSessions(common) },
    { name: 'jobs', everyMs: soon, run: () => forgetJobs(common) },
  ]
}

/** What one part leaves to another is looked for at once, and not when its time comes. */
const leavesWorkTo: Partial<Record<UpkeepName, UpkeepName>> = { uploads: 'deletions', deletions: 'reclaim' }

/** Upkeep. Any number of workers may run on one database. */
export const startWorker = (given: Parts, choose = upkeepOf): { stop(): Promise<void> } => {
  const parts: Parts = { ...given, database: given.database.patient }
  let stopping = false
  const running = new Map<UpkeepName, Reconciler>()
  for (const upkeep of choose(parts, () => stopping)) {
    const run = async (): Promise<void> => {
      try {
        await upkeep.run()
      } finally {
        const next = leavesWorkTo[upkeep.name]
        if (next !== undefined) running.get(next)?.wake()
      }
    }
    running.set(upkeep.name, startUpkeep(parts, { ...upkeep, run }))
  }
  const deaf = parts.jobsWaiting.listen(() => running.get('completions')?.wake())
  return {
    async stop() {
      stopping = true
      deaf()
      await Promise.all([...running.values()].map((reconciler) => reconciler.stop()))
    },
  }
}
