import { slice } from '../../../contract/slice.ts'
import { consoleHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const consolePages = slice({
  operations,
  handlers: consoleHandlers,
})
