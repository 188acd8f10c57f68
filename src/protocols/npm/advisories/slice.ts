import { slice } from '../../../contract/slice.ts'
import { npmAdvisoryHandlers } from './handlers.ts'
import * as operations from './operations.ts'

/** What clients ask for the safety of packages. */
export const npmAdvisories = slice({ operations, handlers: npmAdvisoryHandlers })
