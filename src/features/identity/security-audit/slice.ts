import { slice } from '../../../contract/slice.ts'
import { securityAuditHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const securityAudit = slice({
  operations,
  handlers: securityAuditHandlers,
})
