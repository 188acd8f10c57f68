import type { Database } from '../database/database.ts'
import { type Clock, timestamp } from '../kernel/clock.ts'
import { upkeepNotedEveryMs } from '../kernel/limits/upkeep.ts'
import { type Reconciler, startReconciler } from './reconciler.ts'
import { lastRun, noteRun } from './upkeep-runs.queries.ts'

interface UpkeepDeps {
  readonly database: Database
  readonly clock: Clock
  readonly report: (message: string, error: unknown) => void
}

/** One part of the upkeep: a reconciler of its own, so that what fails in one keeps none of the others. */
interface Part {
  readonly name: string
  /** In words. */
  readonly what: string
  readonly everyMs: number
  readonly run: () => Promise<unknown>
}

/** Starts a part of the upkeep, and writes down now and then that it went well. */
export const startUpkeep = (
  { database, clock, report }: UpkeepDeps,
  { name, what, everyMs, run }: Part,
): Reconciler => {
  let notedMs = Number.NEGATIVE_INFINITY
  return startReconciler({
    name: what,
    everyMs,
    report,
    run: async () => {
      await run()
      const nowMs = clock.now()
      // A clock that was put back is no reason to be silent.
      if (nowMs >= notedMs && nowMs - notedMs < upkeepNotedEveryMs) return
      await database.transaction((tx) => noteRun(tx, name, timestamp(nowMs)), { durability: 'relaxed' })
      notedMs = nowMs
    },
  })
}

/** Seconds since a part of the upkeep last went well in any process; NaN where it never did, or nobody can say. */
export const secondsSinceUpkeep = async (
  { database, clock }: Pick<UpkeepDeps, 'database' | 'clock'>,
  name: string,
): Promise<number> => {
  try {
    const at = await lastRun(database.reader, name)
    return at === undefined ? Number.NaN : Math.max(0, (clock.now() - Date.parse(at)) / 1000)
  } catch {
    // Metrics are for bad times: what cannot be read now does not take the others away.
    return Number.NaN
  }
}
