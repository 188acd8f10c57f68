import { reclaim } from '../../content/reclaim.ts'
import { settleSessions } from '../../features/accounts/jobs.ts'
import { settleLinkKeys } from '../../features/links/jobs.ts'
import { settleUploads, sweepUploads } from '../../features/uploads/jobs.ts'
import { startReconciler } from '../../jobs/reconciler.ts'
import { upkeepBatch, upkeepEveryMs } from '../../kernel/limits.ts'
import type { Parts } from '../parts.ts'

/** Upkeep: what has to happen although nobody asks for it. Any number of workers may run on one database. */
export const startWorker = (parts: Parts): { stop(): Promise<void> } => {
  const { database, clock, store, report } = parts
  const uploads = { database, clock, store, cleanupGraceMs: parts.settings.cleanupGraceMs }
  const reconcilers = [
    startReconciler({
      name: 'the upkeep of uploads',
      everyMs: upkeepEveryMs,
      report,
      run: async () => {
        await settleUploads(uploads)
        await sweepUploads(uploads)
        while ((await reclaim({ database, store, clock })) === upkeepBatch);
      },
    }),
    startReconciler({
      name: 'the upkeep of link keys',
      everyMs: upkeepEveryMs,
      report,
      run: () => settleLinkKeys({ database, clock }),
    }),
    startReconciler({
      name: 'the upkeep of sessions',
      everyMs: upkeepEveryMs,
      report,
      run: () => settleSessions({ database, clock }),
    }),
  ]
  return {
    async stop() {
      await Promise.all(reconcilers.map((reconciler) => reconciler.stop()))
    },
  }
}
