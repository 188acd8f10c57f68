import { slice } from '../../../contract/slice.ts'
import { checkArtifacts } from './checks.ts'
import { artifactHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const artifacts = slice({
  operations,
  handlers: artifactHandlers,
  checks: [{ of: 'files and claims', look: checkArtifacts }],
})
