import type { Database } from '../../../database/database.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { npmFetchLeaseMs } from '../../../kernel/limits/npm-upstream.ts'
import { upkeepRun } from '../../../kernel/one-by-one.ts'
import { cachedAndOwn } from './dropping.queries.ts'
import { dropCached } from './dropping.ts'
import { forgetLapsedFetches } from './fetches.queries.ts'

interface UpkeepDeps {
  readonly database: Database
  readonly clock: Clock
  readonly report: (message: string, error: unknown) => void
}

/** Who drops what nobody can ask for any more. */
const upkeep = 'system:upkeep'

/**
 * What time does to what came from upstreams; an idempotent function of the database. What is kept under a name that
 * was published here since is served no more, and goes; so do leases of processes that died.
 */
export const settleUpstreams = async (deps: UpkeepDeps): Promise<void> => {
  const { database, clock } = deps
  const run = upkeepRun(deps.report)
  await run.each('dropping what came from upstreams under names that are our own', {
    find: (limit) => cachedAndOwn(database.reader, limit),
    what: ({ repository, name }) => `dropping what came from upstream as ${name} of ${repository}`,
    key: ({ repository, name }) => `${repository} ${name}`,
    work: ({ repository, name }) => dropCached(deps, { repository, name, version: undefined }, upkeep),
  })
  await run.attempt('forgetting fetches of processes that died', () =>
    database.transaction((tx) => forgetLapsedFetches(tx, timestamp(clock.now() - npmFetchLeaseMs)), {
      durability: 'relaxed',
    }),
  )
  run.end()
}
