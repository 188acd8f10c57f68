import { slice } from '../../../contract/slice.ts'
import type { Database } from '../../../database/database.ts'
import { imageHandlers } from './handlers.ts'
import { hasImages } from './listing.ts'
import * as operations from './operations.ts'

/** Images in the interface of the service: what there is, what is in it, and tags that are moved or put back. */
export const images = slice({
  operations,
  handlers: imageHandlers,
  formats: [
    {
      name: 'images',
      listedBy: 'artifact.list',
      isIn: ({ database }: { readonly database: Database }, repository: string) =>
        hasImages(database.reader, repository),
    },
  ],
})
