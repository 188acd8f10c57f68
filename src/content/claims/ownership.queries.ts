import type { Queries } from '../../database/database.ts'

/** A few blobs whose bytes are in the store. */
export const someStored = (q: Queries, limit: number) =>
  q
    .selectFrom('blobs')
    .select(['sha256', 'generation'])
    .where('state', '=', 'stored')
    .where('inline', '=', 0)
    .orderBy('sha256')
    .limit(limit)
    .execute()
