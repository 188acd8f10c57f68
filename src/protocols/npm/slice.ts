import { slice } from '../../contract/slice.ts'
import { checkNpmPackages } from './checks.ts'
import { npmHandlers } from './handlers.ts'
import * as operations from './operations.ts'
import { npmWire } from './wire.ts'

/** The registry of npm packages. */
export const npm = slice({
  operations,
  handlers: npmHandlers,
  wire: npmWire,
  checks: [{ of: 'npm packages', look: checkNpmPackages }],
})
