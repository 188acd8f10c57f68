import type { Database } from '../database/database.ts'
import { type Clock, timestamp } from '../kernel/clock.ts'
import { upkeepNotedEveryMs } from '../kernel/upkeep-limits.ts'
import { type Reconciler, startReconciler } from './reconciler.ts'
import { lastRun, noteRun } from './upkeep-runs.queries.ts'

/** The parts of the upkeep. Each is a reconciler of its own: what fails in one keeps none of the others. */
export const upkeepNames = {
  completions: 'the completion of uploads',
  uploads: 'the upkeep of uploads',
  staging: 'the sweep of staging',
  deletions: 'the release of what was deleted',
  reclaim: 'reclaim',
  quarantine: 'the look for files that no row knows',
  quotas: 'the look at quotas',
  policies: 'the schedule of storage policies',
  storage_events: 'the retention of storage events',
  link_keys: 'the upkeep of link keys',
  journals: 'the retention of journals',
  sessions: 'the upkeep of sessions',
  jobs: 'the upkeep of jobs',
} as const

export type UpkeepName = keyof typeof upkeepNames

interface UpkeepParts {
  readonly database: Database
  readonly clock: Clock
  readonly report: (message: string, error: unknown) => void
}

/** One part of the upkeep. `run` throws when something in it could not be done, after it has done the rest. */
export interface Upkeep {
  readonly name: UpkeepName
  readonly everyMs: number
  readonly run: () => Promise<unknown>
}

/** Starts a part of the upkeep, and writes down now and then that it went well. */
export const startUpkeep = ({ database, clock, report }: UpkeepParts, { name, everyMs, run }: Upkeep): Reconciler => {
  let notedMs = Number.NEGATIVE_INFINITY
  return startReconciler({
    name: upkeepNames[name],
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
  { database, clock }: Pick<UpkeepParts, 'database' | 'clock'>,
  name: UpkeepName,
): Promise<number> => {
  try {
    const at = await lastRun(database.reader, name)
    return at === undefined ? Number.NaN : Math.max(0, (clock.now() - Date.parse(at)) / 1000)
  } catch {
    // Metrics are for bad times: what cannot be read now does not take the others away.
    return Number.NaN
  }
}
