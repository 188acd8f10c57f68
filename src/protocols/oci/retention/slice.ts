import { slice } from '../../../contract/slice.ts'
import { imageRetentionHandlers } from './handlers.ts'
import { keptImages } from './kept-images.ts'
import * as operations from './operations.ts'

/** Which images stay. */
export const imageRetention = slice({
  operations,
  handlers: imageRetentionHandlers,
  kept: [keptImages],
})
