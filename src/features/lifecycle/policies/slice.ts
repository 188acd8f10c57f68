import { slice } from '../../../contract/slice.ts'
import type { Database } from '../../../database/database.ts'
import { upkeepEveryMs } from '../../../kernel/limits/upkeep.ts'
import { checkPolicies } from './checks.ts'
import { retentionHandlers } from './handlers.ts'
import { runDuePolicies } from './jobs.ts'
import * as operations from './operations.ts'
import { watchQuotas } from './quota.ts'

export const policies = slice({
  operations,
  handlers: retentionHandlers,
  checks: [
    { of: 'storage policies', look: ({ database }: { readonly database: Database }) => checkPolicies(database.reader) },
  ],
  upkeep: [
    { name: 'quotas', what: 'the look at quotas', everyMs: upkeepEveryMs, run: watchQuotas },
    { name: 'policies', what: 'the schedule of storage policies', everyMs: upkeepEveryMs, run: runDuePolicies },
  ],
})
