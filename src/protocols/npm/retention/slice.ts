import { slice } from '../../../contract/slice.ts'
import { npmRetentionHandlers } from './handlers.ts'
import { keptNpmVersions } from './kept-versions.ts'
import * as operations from './operations.ts'

/** Which npm versions stay. */
export const npmRetention = slice({
  operations,
  handlers: npmRetentionHandlers,
  kept: [keptNpmVersions],
})
