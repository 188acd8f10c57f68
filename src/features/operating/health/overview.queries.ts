import { sql } from 'kysely'
import type { Queries } from '../../../database/database.ts'
import { countedMax } from '../../../kernel/limits/process.ts'

/** Bytes of files that can be fetched, in all repositories. */
export const publishedBytes = async (q: Queries): Promise<number> => {
  const { sum } = await q
    .selectFrom('repositories')
    .select((eb) => eb.fn.sum('published_bytes').as('sum'))
    .executeTakeFirstOrThrow()
  return Number(sum ?? 0)
}

/** Upload sessions that are open, counted up to a bound. */
export const openSessions = async (q: Queries): Promise<number> => {
  // Said in the statement: a parameter leads past the index of what is open.
  const pending = sql.lit('pending' as const)
  const open = q.selectFrom('uploads').select('kind').where('status', '=', pending).limit(countedMax)
  const { n } = await q
    .selectFrom(open.as('open'))
    .select((eb) => eb.fn.countAll().as('n'))
    .where('kind', '=', 'session')
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** Jobs that failed since then, among so many that ended last. */
export const failedJobs = async (q: Queries, since: string): Promise<number> => {
  const ended = q
    .selectFrom('jobs')
    .select('status')
    .where('ended_at', '>', since)
    .orderBy('ended_at', 'desc')
    .limit(countedMax)
  const { n } = await q
    .selectFrom(ended.as('ended'))
    .select((eb) => eb.fn.countAll().as('n'))
    .where('status', '=', 'failed')
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** When each part of the upkeep last went well. */
export const upkeepRuns = (q: Queries): Promise<{ name: string; succeeded_at: string }[]> =>
  q.selectFrom('upkeep_runs').select(['name', 'succeeded_at']).orderBy('name').limit(countedMax).execute()
