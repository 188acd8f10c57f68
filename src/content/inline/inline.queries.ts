import type { Queries, Transaction } from '../../database/database.ts'
import { type Parameters, prepareQuery } from '../../database/prepared.ts'
import type { InlineBytesTable } from '../../database/tables/blobs.ts'

export const insertInline = prepareQuery((q, p: Parameters<InlineBytesTable>) =>
  q.insertInto('inline_bytes').values({ generation: p('generation'), sha256: p('sha256'), bytes: p('bytes') }),
)

const deleteOfGeneration = prepareQuery((q, p: Parameters<{ generation: string }>) =>
  q.deleteFrom('inline_bytes').where('generation', '=', p('generation')),
)

export const deleteInline = async (tx: Transaction, generation: string): Promise<void> => {
  await deleteOfGeneration(tx, { generation })
}

const bytesOfGeneration = prepareQuery((q, p: Parameters<{ generation: string }>) =>
  q.selectFrom('inline_bytes').select('bytes').where('generation', '=', p('generation')),
)

export const inlineBytesOf = async (q: Queries, generation: string): Promise<Uint8Array | undefined> =>
  (await bytesOfGeneration(q, { generation }))[0]?.bytes

const sizeOfGeneration = prepareQuery((q, p: Parameters<{ generation: string }>) =>
  q
    .selectFrom('inline_bytes')
    .select((eb) => eb.fn<number>('length', ['bytes']).as('size'))
    .where('generation', '=', p('generation')),
)

export const inlineSizeOf = async (q: Queries, generation: string): Promise<number | undefined> =>
  (await sizeOfGeneration(q, { generation }))[0]?.size

/** Says of bytes that are there which digest they have. */
export const setInlineDigest = prepareQuery((q, p: Parameters<{ generation: string; digest: string }>) =>
  q
    .updateTable('inline_bytes')
    .set({ sha256: p('digest') })
    .where('generation', '=', p('generation')),
)
