import { slice } from '../../../contract/slice.ts'
import { promotionHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const promotion = slice({
  operations,
  handlers: promotionHandlers,
})
