import type { Queries } from '../../database/database.ts'
import { type Parameters, prepareQuery } from '../../database/prepared.ts'

const generationOfStored = prepareQuery((q, p: Parameters<{ digest: string }>) =>
  q.selectFrom('blobs').select('generation').where('sha256', '=', p('digest')).where('state', '=', 'stored'),
)

const storedByDigest = prepareQuery((q, p: Parameters<{ digest: string }>) =>
  q
    .selectFrom('blobs')
    .leftJoin('inline_bytes', (join) =>
      join.onRef('inline_bytes.generation', '=', 'blobs.generation').on('blobs.inline', '=', 1),
    )
    .select(['blobs.generation', 'inline_bytes.bytes'])
    .where('blobs.sha256', '=', p('digest'))
    .where('blobs.state', '=', 'stored'),
)

/** What small bytes that are stored are called, and the bytes, where they are inline. */
export const findStored = async (
  q: Queries,
  digest: string,
): Promise<{ generation: string; bytes: Uint8Array | null } | undefined> => (await storedByDigest(q, { digest }))[0]

/** The generation of bytes that are stored, or undefined. */
export const storedGeneration = async (q: Queries, digest: string): Promise<string | undefined> =>
  (await generationOfStored(q, { digest }))[0]?.generation
