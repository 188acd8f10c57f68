import { slice } from '../../../contract/slice.ts'
import { attentionHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const attention = slice({ operations, handlers: attentionHandlers })
