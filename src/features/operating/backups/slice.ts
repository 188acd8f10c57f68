import { slice } from '../../../contract/slice.ts'
import { backupHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const backups = slice({ operations, handlers: backupHandlers })
