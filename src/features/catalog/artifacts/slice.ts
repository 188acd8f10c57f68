import { slice } from '../../../contract/slice.ts'
import type { Database } from '../../../database/database.ts'
import { countFiles } from './artifacts.ts'
import { checkArtifacts } from './checks.ts'
import { artifactHandlers } from './handlers.ts'
import * as operations from './operations.ts'

export const artifacts = slice({
  operations,
  handlers: artifactHandlers,
  checks: [{ of: 'files and claims', look: checkArtifacts }],
  formats: [
    {
      name: 'files',
      listedBy: 'artifact.list',
      countIn: ({ database }: { readonly database: Database }, repositories: readonly string[], most: number) =>
        countFiles(database.reader, repositories, most),
    },
  ],
})
