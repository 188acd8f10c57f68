import { slice } from '../../../contract/slice.ts'
import { discoveryHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const discovery = slice({
  operations,
  handlers: discoveryHandlers,
})
