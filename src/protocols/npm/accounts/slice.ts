import { slice } from '../../../contract/slice.ts'
import { npmAccountHandlers } from './handlers.ts'
import * as operations from './operations.ts'

/** How clients of the npm registry sign in and out, and what they ask of whose credential they show. */
export const npmAccounts = slice({ operations, handlers: npmAccountHandlers })
