import { slice } from '../../../contract/slice.ts'
import { frontPageHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const frontPage = slice({
  operations,
  handlers: frontPageHandlers,
})
