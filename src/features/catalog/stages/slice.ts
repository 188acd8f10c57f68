import { slice } from '../../../contract/slice.ts'
import type { Database } from '../../../database/database.ts'
import { checkStages } from './checks.ts'
import { stageHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const stages = slice({
  operations,
  handlers: stageHandlers,
  checks: [{ of: 'stages', look: ({ database }: { readonly database: Database }) => checkStages(database.reader) }],
})
