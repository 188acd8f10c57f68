import { slice } from '../../../contract/slice.ts'
import { feedHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const feeds = slice({
  operations,
  handlers: feedHandlers,
})
