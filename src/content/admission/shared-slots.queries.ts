import type { Queries, Transaction } from '../../database/database.ts'
import type { DownloadGatewaysTable } from '../../database/tables/download-queue.ts'

export const ticketSecret = async (q: Queries): Promise<string> =>
  (await q.selectFrom('download_queue').select('ticket_secret').executeTakeFirstOrThrow()).ticket_secret

/** One gateway at a time: the sum of what they may give out is decided on what all of them have. */
export const lockGateways = async (tx: Transaction, engine: 'sqlite' | 'postgres'): Promise<void> => {
  const row = tx.selectFrom('download_queue').select('id')
  // On SQLite the transaction itself is the lock.
  await (engine === 'postgres' ? row.forUpdate() : row).execute()
}

export const liveGateways = (tx: Transaction, now: string): Promise<DownloadGatewaysTable[]> =>
  tx.selectFrom('download_gateways').selectAll().where('ends_at', '>', now).execute()

export const forgetGateways = async (tx: Transaction, endedBefore: string): Promise<void> => {
  await tx.deleteFrom('download_gateways').where('ends_at', '<=', endedBefore).execute()
}

export const writeGateway = async (tx: Transaction, row: DownloadGatewaysTable): Promise<void> => {
  const { id, ...rest } = row
  await tx
    .insertInto('download_gateways')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...rest }))
    .execute()
}

export const forgetGateway = async (tx: Transaction, id: string): Promise<void> => {
  await tx.deleteFrom('download_gateways').where('id', '=', id).execute()
}
