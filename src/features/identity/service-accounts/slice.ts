import { slice } from '../../../contract/slice.ts'
import { serviceAccountHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const serviceAccounts = slice({
  operations,
  handlers: serviceAccountHandlers,
})
