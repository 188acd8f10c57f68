import type { Database, Queries, Transaction } from '../../database/database.ts'

/** Files that are kept in the database, and their bytes. */
export interface InlineSums {
  readonly files: number
  readonly bytes: number
}

const sumsId = 1

/** What the last look through all files counted; null before the first one. */
export const inlineSums = async (q: Queries): Promise<InlineSums | null> =>
  (await q.selectFrom('inline_sums').select(['files', 'bytes']).where('id', '=', sumsId).executeTakeFirst()) ?? null

const write = async (tx: Transaction, sums: InlineSums): Promise<void> => {
  await tx
    .insertInto('inline_sums')
    .values({ id: sumsId, ...sums })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...sums }))
    .execute()
}

/** Remembers what a look has counted, for whoever is asked for metrics. */
export const noteInlineSums = (database: Database, sums: InlineSums): Promise<void> =>
  database.transaction((tx) => write(tx, sums), { durability: 'relaxed' })
