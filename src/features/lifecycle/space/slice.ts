import { slice } from '../../../contract/slice.ts'
import { storageHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const space = slice({
  operations,
  handlers: storageHandlers,
})
