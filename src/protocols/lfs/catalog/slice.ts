import { slice } from '../../../contract/slice.ts'
import type { Database } from '../../../database/database.ts'
import { lfsCatalogHandlers } from './handlers.ts'
import { countObjects } from './listing.ts'
import * as operations from './operations.ts'

/** Objects of Git LFS in the interface of the service: what there is, what goes, and what comes back. */
export const lfsCatalog = slice({
  operations,
  handlers: lfsCatalogHandlers,
  formats: [
    {
      name: 'lfs',
      listedBy: 'artifact.list',
      countIn: ({ database }: { readonly database: Database }, repositories: readonly string[], most: number) =>
        countObjects(database.reader, repositories, most),
    },
  ],
})
