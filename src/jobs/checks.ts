import { recount, totalOf } from '../database/counters.queries.ts'
import type { Database } from '../database/database.ts'
import { type Clock, timestamp } from '../kernel/clock.ts'
import { damage, type Finding } from '../kernel/finding.ts'
import { jobAttemptsMax, jobFirstPauseMs, jobLeaseMs, leaseToleranceMs } from '../kernel/limits/jobs.ts'
import { findingsMax } from '../kernel/limits/upkeep.ts'
import { jobsDueAfter, openJobs, updateJob } from './jobs.queries.ts'

/** The longest that a job may have to wait: a lease, or the last pause. */
const longestWaitMs = Math.max(jobLeaseMs, jobFirstPauseMs * 3 ** (jobAttemptsMax - 1))

/** Proves that the counter behind the limit of open jobs is their number, and that none waits longer than it should. */
export async function* checkJobs(deps: { database: Database; clock: Clock }): AsyncGenerator<Finding> {
  const { database, clock } = deps
  const [counted, open] = [await totalOf(database.reader, 'open_jobs'), await openJobs(database.reader)]
  if (counted !== open)
    yield damage(`the counter of open jobs says ${counted}; there are ${open}`, () =>
      database.transaction((tx) => recount(tx, 'open_jobs', () => openJobs(tx))),
    )
  const latest = timestamp(clock.now() + longestWaitMs + leaseToleranceMs)
  for (const { id, due_at } of await jobsDueAfter(database.reader, latest, findingsMax))
    yield damage(`job ${id} waits until ${due_at}, which is longer than any job may`, () =>
      database.transaction((tx) => updateJob(tx, id, { due_at: timestamp(clock.now()) })),
    )
}
