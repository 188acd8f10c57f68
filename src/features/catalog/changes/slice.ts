import { slice } from '../../../contract/slice.ts'
import { changeHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const changes = slice({
  operations,
  handlers: changeHandlers,
})
