import type { Reconciler } from '../../jobs/reconciler.ts'
import { startUpkeep } from '../../jobs/upkeep.ts'
import type { Parts } from '../parts.ts'
import { everyUpkeep, type UpkeepParts } from '../upkeep.ts'

/** Upkeep. Any number of workers may run on one database. */
export const startWorker = (
  given: Parts,
  all = [...everyUpkeep, ...(given.more ?? []).flatMap(({ upkeep }) => upkeep)],
): { stop(): Promise<void> } => {
  const parts: UpkeepParts = { ...given.settings, ...given, database: given.database.patient }
  let stopping = false
  const running = new Map<string, Reconciler>()
  for (const upkeep of all) {
    const run = async (): Promise<void> => {
      try {
        await upkeep.run(parts, () => stopping)
      } finally {
        // What one part leaves to another is looked for at once, and not when its time comes.
        if (upkeep.wakes !== undefined) running.get(upkeep.wakes)?.wake()
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
