import { slice } from '../../../contract/slice.ts'
import { lfsLockHandlers } from './handlers.ts'
import * as operations from './operations.ts'

/** Locks of Git LFS: they are asked for on its wire. */
export const lfsLocks = slice({ operations, handlers: lfsLockHandlers })
