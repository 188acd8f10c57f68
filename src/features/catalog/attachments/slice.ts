import { slice } from '../../../contract/slice.ts'
import type { Database } from '../../../database/database.ts'
import { checkAttachments } from './checks.ts'
import { attachmentHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const attachments = slice({
  operations,
  handlers: attachmentHandlers,
  checks: [{ of: 'attachments', look: ({ database }: { readonly database: Database }) => checkAttachments(database) }],
})
