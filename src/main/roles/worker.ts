import type { Reconciler } from '../../jobs/reconciler.ts'
import { startUpkeep } from '../../jobs/upkeep.ts'
import type { Engines } from '../engines.ts'
import { keptOfSlices } from '../slices.ts'
import { everyUpkeep, type UpkeepDeps } from '../upkeep.ts'

/** Upkeep. Any number of workers may run on one database. */
export const startWorker = (
  given: Engines,
  all = [...everyUpkeep, ...(given.more ?? []).flatMap(({ upkeep }) => upkeep)],
): { stop(): Promise<void> } => {
  const keptKinds = [...keptOfSlices, ...(given.more ?? []).flatMap(({ kept }) => kept)]
  const deps: UpkeepDeps = { ...given.settings, ...given, keptKinds, database: given.database.patient }
  let stopping = false
  const running = new Map<string, Reconciler>()
  for (const upkeep of all) {
    const run = async (): Promise<void> => {
      try {
        await upkeep.run(deps, () => stopping)
      } finally {
        // What one part leaves to another is looked for at once, and not when its time comes.
        if (upkeep.wakes !== undefined) running.get(upkeep.wakes)?.wake()
      }
    }
    running.set(upkeep.name, startUpkeep(deps, { ...upkeep, run }))
  }
  const deaf = deps.jobsWaiting.listen(() => running.get('completions')?.wake())
  return {
    async stop() {
      stopping = true
      deaf()
      await Promise.all([...running.values()].map((reconciler) => reconciler.stop()))
    },
  }
}
