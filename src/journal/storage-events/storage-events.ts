import type { Database, Transaction } from '../../database/database.ts'
import type { StorageEventsTable } from '../../database/tables/storage-events.ts'
import type { StorageEventLevel } from '../../kernel/journal-words.ts'
import { storageEventsMax, storageEventsPage, storageEventsPerRepositoryMax } from '../../kernel/limits/journal.ts'
import { upkeepBatch } from '../../kernel/limits/upkeep.ts'
import { cursorAt } from '../../kernel/order.ts'
import { type Page, pageOf } from '../../kernel/page.ts'
import type { Stretch } from '../../kernel/sequence.ts'
import { type Telling, tellable } from '../telling.ts'
import {
  deleteStorageEvent,
  deleteStorageEventsUpTo,
  insertStorageEvent,
  listStorageEventRows,
  nextStorageEvent,
  storageEventsBeyond,
} from './storage-events.queries.ts'

/** What a storage event may tell of. */
type StorageEventCode =
  | 'policy.saved'
  | 'run.finished'
  | 'run.failed'
  | 'schedule.stopped'
  | 'quota.changed'
  | 'immutable-tags.saved'
  | 'lfs-settings.saved'
  | 'reclaim.finished'
  | 'scrub.damage'
  | 'scrub.healed'

export interface NewStorageEvent {
  readonly repository: string
  readonly level: StorageEventLevel
  readonly code: StorageEventCode
  /** At most 16. Counts of bytes are strings. */
  readonly details: Readonly<Record<string, string | number>>
  readonly occurredAt: string
}

/**
 * Tells the operators of a repository, in the transaction of what is told (I4). Takes the lock of the repository's row,
 * so that sequence order is commit order; the oldest beyond what a repository keeps goes at once.
 */
export const appendStorageEvent = async (tx: Transaction, event: NewStorageEvent): Promise<void> => {
  const sequence = await nextStorageEvent(tx, event.repository)
  await insertStorageEvent(tx, {
    repository: event.repository,
    sequence,
    occurred_at: event.occurredAt,
    level: event.level,
    code: event.code,
    details: JSON.stringify(event.details),
  })
  await deleteStorageEventsUpTo(tx, event.repository, sequence - storageEventsPerRepositoryMax)
}

export interface StorageEvent {
  readonly sequence: string
  readonly occurredAt: string
  readonly level: StorageEventLevel
  readonly code: string
  readonly details: Record<string, string | number>
}

/** A page of events, and where to go on, which is told always where the newest come last: more may come. */
export const storageEventPage = async (
  database: Telling,
  of: { readonly repository: string; readonly level: StorageEventLevel | null },
  stretch: Stretch,
): Promise<Page<StorageEvent>> => {
  const rows = await tellable(database, (q) => listStorageEventRows(q, of, stretch, storageEventsPage + 1))
  const cursorOf = ({ sequence }: Pick<StorageEventsTable, 'sequence'>) => cursorAt(stretch.order, String(sequence))
  const page = pageOf(rows, storageEventsPage, toEvent, cursorOf)
  if (page.next !== null || stretch.order === 'desc') return page
  return { ...page, next: cursorOf(rows.at(-1) ?? { sequence: stretch.above }) }
}

const toEvent = (row: StorageEventsTable): StorageEvent => ({
  sequence: String(row.sequence),
  occurredAt: row.occurred_at,
  level: row.level,
  code: row.code,
  details: detailsOf(row.details),
})

const detailsOf = (json: string): Record<string, string | number> => {
  const parsed: unknown = JSON.parse(json)
  if (typeof parsed !== 'object' || parsed === null) return {}
  const told = Object.entries(parsed).map(([key, value]) => [key, typeof value === 'number' ? value : String(value)])
  return Object.fromEntries(told)
}

/** Forgets the oldest events of all repositories together beyond what is kept. To be run by the clock. */
export const forgetStorageEvents = async (database: Database): Promise<void> => {
  for (;;) {
    const old = await storageEventsBeyond(database.reader, storageEventsMax, upkeepBatch)
    if (old.length === 0) return
    await database.transaction(
      async (tx) => {
        for (const row of old) await deleteStorageEvent(tx, row)
      },
      { durability: 'relaxed' },
    )
    if (old.length < upkeepBatch) return
  }
}
