import { slice } from '../../../contract/slice.ts'
import type { Database } from '../../../database/database.ts'
import { checkSearch } from './checks.ts'
import { searchHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const search = slice({
  operations,
  handlers: searchHandlers,
  checks: [{ of: 'search', look: ({ database }: { readonly database: Database }) => checkSearch(database) }],
})
