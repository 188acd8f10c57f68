import { slice } from '../../../contract/slice.ts'
import { tokenHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const tokens = slice({
  operations,
  handlers: tokenHandlers,
})
