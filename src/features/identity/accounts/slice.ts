import { slice } from '../../../contract/slice.ts'
import type { Database } from '../../../database/database.ts'
import { upkeepEveryMs } from '../../../kernel/limits/upkeep.ts'
import { checkAccounts } from './checks.ts'
import { accountHandlers } from './handlers.ts'
import { settleSessions } from './jobs.ts'
import * as operations from './operations.ts'

export const accounts = slice({
  operations,
  handlers: accountHandlers,
  checks: [{ of: 'accounts', look: ({ database }: { readonly database: Database }) => checkAccounts(database) }],
  upkeep: [{ name: 'sessions', what: 'the upkeep of sessions', everyMs: upkeepEveryMs, run: settleSessions }],
})
