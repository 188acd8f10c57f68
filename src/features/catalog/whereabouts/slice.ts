import { slice } from '../../../contract/slice.ts'
import { whereaboutHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const whereabouts = slice({
  operations,
  handlers: whereaboutHandlers,
})
