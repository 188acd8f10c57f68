import { slice } from '../../../contract/slice.ts'
import type { Database } from '../../../database/database.ts'
import { imageHandlers } from './handlers.ts'
import { countImages } from './listing.ts'
import * as operations from './operations.ts'

/** Images in the interface of the service: what there is, what is in it, and tags that are moved or put back. */
export const images = slice({
  operations,
  handlers: imageHandlers,
  formats: [
    {
      name: 'images',
      listedBy: 'artifact.list',
      countIn: ({ database }: { readonly database: Database }, repositories: readonly string[], most: number) =>
        countImages(database.reader, repositories, most),
    },
  ],
})
