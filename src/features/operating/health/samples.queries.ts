import type { Queries, Transaction } from '../../../database/database.ts'
import type { ServiceSamplesTable } from '../../../database/tables/samples.ts'

export const hasSample = async (q: Queries, takenAt: string): Promise<boolean> =>
  (await q.selectFrom('service_samples').select('taken_at').where('taken_at', '=', takenAt).execute()).length > 0

/** With what is too old going: as many come as go. Another process may have been first. */
export const insertSample = async (tx: Transaction, row: ServiceSamplesTable, before: string): Promise<void> => {
  await tx
    .insertInto('service_samples')
    .values(row)
    .onConflict((conflict) => conflict.column('taken_at').doNothing())
    .execute()
  await tx.deleteFrom('service_samples').where('taken_at', '<', before).execute()
}

export const samplesFrom = (q: Queries, from: string, limit: number): Promise<ServiceSamplesTable[]> =>
  q.selectFrom('service_samples').selectAll().where('taken_at', '>=', from).orderBy('taken_at').limit(limit).execute()
