import { slice } from '../../../contract/slice.ts'
import { webhookHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const webhooks = slice({ operations, handlers: webhookHandlers })
