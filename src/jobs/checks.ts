import { totalOf } from '../database/counters.queries.ts'
import type { Queries } from '../database/database.ts'
import { damage, type Finding } from '../kernel/finding.ts'
import { openJobs } from './jobs.queries.ts'

/** Proves that the counter behind the limit of open jobs is their number. */
export async function* checkJobs(q: Queries): AsyncGenerator<Finding> {
  const [counted, open] = [await totalOf(q, 'open_jobs'), await openJobs(q)]
  if (counted !== open) yield damage(`the counter of open jobs says ${counted}; there are ${open}`)
}
