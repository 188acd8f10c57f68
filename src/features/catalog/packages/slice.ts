import { slice } from '../../../contract/slice.ts'
import type { Database } from '../../../database/database.ts'
import { checkPackages } from './checks.ts'
import { packageHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const packages = slice({
  operations,
  handlers: packageHandlers,
  checks: [{ of: 'packages', look: ({ database }: { readonly database: Database }) => checkPackages(database) }],
})
