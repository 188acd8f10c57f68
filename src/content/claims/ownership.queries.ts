import type { Queries } from '../../database/database.ts'

/** A few blobs whose bytes are there. */
export const someStored = (q: Queries, limit: number) =>
  q
    .selectFrom('blobs')
    .select(['sha256', 'generation'])
    .where('state', '=', 'stored')
    .orderBy('sha256')
    .limit(limit)
    .execute()
