import type { Database } from '../../database/database.ts'
import { inlineBytesMax } from '../../kernel/limits/engines.ts'
import { OnePiece } from '../../kernel/one-piece.ts'
import { generationOf } from '../../ports/blob-name.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import { inlineBytesOf, inlineSizeOf } from './inline.queries.ts'

/*
 * Small bytes in the database, beside the row of their blob: one commit makes them and all that is said of them
 * durable, and no file is made. A blob's row says where its bytes are; its name is the same wherever they lie. Whoever
 * announced that name before may still put them into the store as well, which does no harm: when the row goes, what
 * lies under its name goes, too.
 */

/**
 * The store as those see it who only want bytes by their names: of inline bytes it knows the size, and opens them. All
 * else is the store's own.
 */
export const withInline = (store: BlobStore, { reader }: Pick<Database, 'reader'>): BlobStore => ({
  ...store,

  async size(name) {
    return (await inlineSizeOf(reader, generationOf(name))) ?? (await store.size(name))
  },

  async open(name, range, blobBytes) {
    const bytes =
      blobBytes === undefined || blobBytes <= inlineBytesMax
        ? await inlineBytesOf(reader, generationOf(name))
        : undefined
    return bytes === undefined
      ? await store.open(name, range, blobBytes)
      : new OnePiece(range.end > range.start ? bytes.subarray(range.start, range.end) : undefined)
  },
})
