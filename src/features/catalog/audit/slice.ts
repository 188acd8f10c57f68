import { slice } from '../../../contract/slice.ts'
import { auditHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const audit = slice({
  operations,
  handlers: auditHandlers,
})
