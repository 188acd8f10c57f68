import { slice } from '../../../contract/slice.ts'
import type { Database } from '../../../database/database.ts'
import { checkAssets } from './checks.ts'
import { assetHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const assets = slice({
  operations,
  handlers: assetHandlers,
  checks: [{ of: 'paths', look: ({ database }: { readonly database: Database }) => checkAssets(database.reader) }],
})
