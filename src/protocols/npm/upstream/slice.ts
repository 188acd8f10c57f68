import { slice } from '../../../contract/slice.ts'
import { npmUpstreamUpkeepEveryMs } from '../../../kernel/limits/npm-upstream.ts'
import { checkUpstreams } from './checks.ts'
import { npmUpstreamHandlers } from './handlers.ts'
import { settleUpstreams } from './jobs.ts'
import * as operations from './operations.ts'

/** The registries to which repositories of npm packages look through, and what came from there. */
export const npmUpstreams = slice({
  operations,
  handlers: npmUpstreamHandlers,
  checks: [{ of: 'npm upstreams', look: checkUpstreams }],
  upkeep: [
    {
      name: 'npm_upstreams',
      what: 'the upkeep of what came from npm upstreams',
      everyMs: npmUpstreamUpkeepEveryMs,
      run: settleUpstreams,
      wakes: 'reclaim',
    },
  ],
})
