import { slice } from '../../../contract/slice.ts'
import type { Database } from '../../../database/database.ts'
import { npmPackageHandlers } from './handlers.ts'
import { countPackages } from './listing.ts'
import * as operations from './operations.ts'

/** npm packages in the interface of the service: what there is, and versions that are brought back. */
export const npmPackages = slice({
  operations,
  handlers: npmPackageHandlers,
  formats: [
    {
      name: 'npm',
      listedBy: 'artifact.list',
      countIn: ({ database }: { readonly database: Database }, repositories: readonly string[], most: number) =>
        countPackages(database.reader, repositories, most),
    },
  ],
})
