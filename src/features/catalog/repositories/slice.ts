import { slice } from '../../../contract/slice.ts'
import { repositoryHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const repositories = slice({
  operations,
  handlers: repositoryHandlers,
})
