import { slice } from '../../contract/slice.ts'
import { checkLfsObjects } from './checks.ts'
import { lfsHandlers } from './handlers.ts'
import * as operations from './operations.ts'
import { lfsWire } from './wire.ts'

/** Large files of Git repositories: the Git LFS API. */
export const lfs = slice({
  operations,
  handlers: lfsHandlers,
  wire: lfsWire,
  checks: [{ of: 'objects of Git LFS', look: checkLfsObjects }],
})
