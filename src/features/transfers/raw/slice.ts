import { slice } from '../../../contract/slice.ts'
import { rawHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const raw = slice({
  operations,
  handlers: rawHandlers,
})
