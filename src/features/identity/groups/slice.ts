import { slice } from '../../../contract/slice.ts'
import { groupHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const groups = slice({
  operations,
  handlers: groupHandlers,
})
