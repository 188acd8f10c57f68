import type { Selectable } from 'kysely'
import type { Queries } from '../../database/database.ts'
import type { BlobsTable } from '../../database/tables/blobs.ts'

export type BlobRow = Pick<Selectable<BlobsTable>, 'sha256' | 'size' | 'state' | 'generation' | 'inline'>

/** Some blobs behind a digest, in order, with where their bytes are. */
export const blobsAfter = (q: Queries, after: string, limit: number): Promise<BlobRow[]> =>
  q
    .selectFrom('blobs')
    .select(['sha256', 'size', 'state', 'generation', 'inline'])
    .where('sha256', '>', after)
    .orderBy('sha256')
    .limit(limit)
    .execute()
