import { watchQuarantine } from '../content/checks/quarantine.ts'
import { reclaim } from '../content/reclaim/reclaim.ts'
import { settleSmallFiles } from '../content/settling/settling.ts'
import type { Upkeep } from '../contract/slice.ts'
import { giveBackRoom } from '../database/giving-back.ts'
import { forgetJobs } from '../jobs/leases.ts'
import { runDueJobs } from '../jobs/runner.ts'
import { forgetOldLines } from '../journal/forgetting.ts'
import { forgetStorageEvents } from '../journal/storage-events/storage-events.ts'
import { databaseGivesBackRunMs } from '../kernel/limits/engines.ts'
import { jobsEveryMs } from '../kernel/limits/jobs.ts'
import { retentionEveryMs } from '../kernel/limits/journal.ts'
import { inlineLookEveryMs, quarantineEveryMs, upkeepEveryMs } from '../kernel/limits/upkeep.ts'
import type { Engines } from './engines.ts'
import type { Settings } from './settings/rules.ts'
import { jobsOfSlices, upkeepOfSlices, type WorkerNeeds } from './slices.ts'
import { translate } from './translate.ts'

/** What upkeep is given: the parts of the process, and its settings by their names. */
export type UpkeepDeps = Engines & Settings & WorkerNeeds

const runJobs = async (deps: UpkeepDeps, stopping: () => boolean): Promise<void> => {
  for (const job of [...jobsOfSlices, ...(deps.more ?? []).flatMap(({ jobs }) => jobs)])
    await runDueJobs(deps, { ...job, judge: (error) => job.judge(translate(error) ?? error) }, stopping)
}

/** The log is told of lines that somebody still needs. */
const forgetLines = (deps: UpkeepDeps, stopping: () => boolean): Promise<void> =>
  forgetOldLines(
    {
      ...deps,
      linesNeeded: ({ repository, consumerAt, goneTo }) => {
        if (goneTo === null)
          deps.log.warn(
            { event: 'journal.lines_held', repository, consumerAt },
            'old lines of a journal are kept for a webhook that has not come to them; they go after thirty days more',
          )
        else
          deps.log.error(
            { event: 'journal.lines_lost', repository, consumerAt, goneTo },
            'old lines of a journal were forgotten although a webhook has not come to them: its receiver failed for too long',
          )
      },
    },
    stopping,
  )

/**
 * What has to happen although nobody asks for it, each part for itself: that of the slices, and of the floors below
 * them.
 */
export const everyUpkeep: readonly Upkeep<UpkeepDeps>[] = [
  { name: 'completions', what: 'the completion of uploads', everyMs: jobsEveryMs, run: runJobs },
  ...upkeepOfSlices,
  {
    name: 'inline',
    what: 'the moving of small files',
    everyMs: inlineLookEveryMs,
    run: settleSmallFiles,
    wakes: 'reclaim',
  },
  { name: 'reclaim', what: 'reclaim', everyMs: upkeepEveryMs, run: reclaim },
  {
    name: 'quarantine',
    what: 'the look for files that no row knows',
    everyMs: quarantineEveryMs,
    run: watchQuarantine,
  },
  {
    name: 'storage_events',
    what: 'the retention of storage events',
    everyMs: upkeepEveryMs,
    run: ({ database }) => forgetStorageEvents(database),
  },
  {
    name: 'database',
    what: 'giving back room in the database',
    everyMs: databaseGivesBackRunMs,
    run: giveBackRoom,
  },
  { name: 'journals', what: 'the retention of journals', everyMs: retentionEveryMs, run: forgetLines },
  { name: 'jobs', what: 'the upkeep of jobs', everyMs: upkeepEveryMs, run: forgetJobs },
]
