import { slice } from '../../../contract/slice.ts'
import type { Database } from '../../../database/database.ts'
import { checkPackages } from './checks.ts'
import { packageHandlers } from './handlers.ts'
import { countVersions } from './listing.ts'
import * as operations from './operations.ts'

export const packages = slice({
  operations,
  handlers: packageHandlers,
  checks: [{ of: 'packages', look: ({ database }: { readonly database: Database }) => checkPackages(database) }],
  formats: [
    {
      name: 'packages',
      listedBy: 'package.read',
      countIn: ({ database }: { readonly database: Database }, repositories: readonly string[], most: number) =>
        countVersions(database.reader, repositories, most),
    },
  ],
})
