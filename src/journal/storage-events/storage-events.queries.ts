import { sql } from 'kysely'
import type { Queries, Transaction } from '../../database/database.ts'
import type { StorageEventsTable } from '../../database/tables/storage-events.ts'
import type { Stretch } from '../../kernel/sequence.ts'
import { beyondEvents } from '../since-base.queries.ts'

type EventKey = Pick<StorageEventsTable, 'repository' | 'sequence'>

export const nextStorageEvent = async (tx: Transaction, repository: string): Promise<number> => {
  const row = await tx
    .updateTable('repositories')
    .set((eb) => ({ storage_event_head: eb('storage_event_head', '+', 1) }))
    .where('id', '=', repository)
    .returning('storage_event_head')
    .executeTakeFirst()
  if (row === undefined) throw new Error(`there is no repository ${repository} to tell of its storage`)
  return row.storage_event_head
}

export const insertStorageEvent = async (tx: Transaction, row: StorageEventsTable): Promise<void> => {
  await tx.insertInto('storage_events').values(row).execute()
}

export const deleteStorageEventsUpTo = async (tx: Transaction, repository: string, sequence: number): Promise<void> => {
  await tx.deleteFrom('storage_events').where('repository', '=', repository).where('sequence', '<=', sequence).execute()
}

export const listStorageEventRows = (
  q: Queries,
  of: { readonly repository: string; readonly level: StorageEventsTable['level'] | null },
  { order, above, below }: Stretch,
  limit: number,
): Promise<StorageEventsTable[]> => {
  const rows = q
    .selectFrom('storage_events')
    .selectAll()
    .where('repository', '=', of.repository)
    .where('sequence', '>', beyondEvents(sql.val(of.repository), sql.val(above)))
    .where('sequence', '<', below)
    .orderBy('sequence', order)
    .limit(limit)
  return (of.level === null ? rows : rows.where('level', '=', of.level)).execute()
}

/** The newest of those beyond the newest `kept` of all, in the order of an index. */
export const storageEventsBeyond = (q: Queries, kept: number, limit: number): Promise<EventKey[]> =>
  q
    .selectFrom('storage_events')
    .select(['repository', 'sequence'])
    .orderBy('occurred_at', 'desc')
    .orderBy('repository', 'desc')
    .orderBy('sequence', 'desc')
    .offset(kept)
    .limit(limit)
    .execute()

export const deleteStorageEvent = async (tx: Transaction, { repository, sequence }: EventKey): Promise<void> => {
  await tx.deleteFrom('storage_events').where('repository', '=', repository).where('sequence', '=', sequence).execute()
}
