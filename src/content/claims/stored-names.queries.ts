import type { Queries } from '../../database/database.ts'
import { type Parameters, prepareQuery } from '../../database/prepared.ts'

const generationOfStored = prepareQuery((q, p: Parameters<{ digest: string }>) =>
  q.selectFrom('blobs').select('generation').where('sha256', '=', p('digest')).where('state', '=', 'stored'),
)

/** The generation of bytes that are stored, or undefined. */
export const storedGeneration = async (q: Queries, digest: string): Promise<string | undefined> =>
  (await generationOfStored(q, { digest }))[0]?.generation
