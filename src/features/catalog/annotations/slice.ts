import { slice } from '../../../contract/slice.ts'
import type { Database } from '../../../database/database.ts'
import { checkAnnotations } from './checks.ts'
import { annotationHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const annotations = slice({
  operations,
  handlers: annotationHandlers,
  checks: [{ of: 'annotations', look: ({ database }: { readonly database: Database }) => checkAnnotations(database) }],
})
