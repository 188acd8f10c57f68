import { slice } from '../../../contract/slice.ts'
import { accessHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const access = slice({
  operations,
  handlers: accessHandlers,
})
