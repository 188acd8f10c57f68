import type { Queries, Transaction } from '../../database/database.ts'
import type { QuarantineTable } from '../../database/tables/quarantine.ts'

/** Rows of blobs with these digests, to be compared by their generations. */
export const blobsAmong = (q: Queries, digests: readonly string[]) =>
  q.selectFrom('blobs').select(['sha256', 'generation']).where('sha256', 'in', digests).execute()

export const removalsAmong = async (q: Queries, names: readonly string[]): Promise<string[]> =>
  (await q.selectFrom('removals').select('name').where('name', 'in', names).execute()).map(({ name }) => name)

/** Says since when it is there, unless that is known. */
export const insertStranger = async (tx: Transaction, row: QuarantineTable): Promise<void> => {
  await tx
    .insertInto('quarantine')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
}

export const strangerSince = async (q: Queries, name: string): Promise<string | undefined> =>
  (await q.selectFrom('quarantine').select('seen_at').where('name', '=', name).executeTakeFirst())?.seen_at

export const deleteStranger = async (tx: Transaction, name: string): Promise<void> => {
  await tx.deleteFrom('quarantine').where('name', '=', name).execute()
}

export const strangersAfter = (q: Queries, after: string, limit: number): Promise<QuarantineTable[]> =>
  q.selectFrom('quarantine').selectAll().where('name', '>', after).orderBy('name').limit(limit).execute()

export const quarantineSums = async (q: Queries): Promise<{ blobs: number; bytes: number; since: string | null }> => {
  const row = await q
    .selectFrom('quarantine')
    .select((eb) => [
      eb.fn.countAll<number | string>().as('blobs'),
      eb.fn.sum<number | string | null>('size').as('bytes'),
      eb.fn.min('seen_at').as('since'),
    ])
    .executeTakeFirstOrThrow()
  return { blobs: Number(row.blobs), bytes: Number(row.bytes ?? 0), since: row.since }
}
