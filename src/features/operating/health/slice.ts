import { slice } from '../../../contract/slice.ts'
import { healthHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const health = slice({
  operations,
  handlers: healthHandlers,
})
