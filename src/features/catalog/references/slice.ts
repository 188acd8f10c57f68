import { slice } from '../../../contract/slice.ts'
import { referenceHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const references = slice({
  operations,
  handlers: referenceHandlers,
})
