import type { Database, Transaction } from '../../../database/database.ts'
import type { WebhooksTable } from '../../../database/tables/webhooks.ts'
import { closeCursor, moveCursors, openCursor } from '../../../journal/repository/cursors.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import {
  webhookLeaseMs,
  webhookLeaseSpareMs,
  webhooksShownMax,
  webhookUnnamedMs,
} from '../../../kernel/limits/webhooks.ts'
import { cursorOf, hostOf, type Subscription } from './subscription.ts'
import {
  addLost,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  keepWebhooks,
  lockWebhook,
  lockWebhooks,
  namedWebhooks,
  updateWebhook,
} from './webhooks.queries.ts'

/*
 * How subscriptions stand, as rows. What a worker does with one it does under a lease, and every note that it makes
 * says so again: one that lost it notes nothing. Losing a note to a power cut costs sending an event again.
 */

export interface StandingDeps {
  readonly database: Database
  readonly clock: Clock
}

export interface Standing {
  readonly position: number
  readonly failures: number
  readonly failingSince: string | null
  readonly nextTryAt: string | null
}

const relaxed = { durability: 'relaxed' } as const

/** Another worker has it, for so long unless it says so again. */
export interface Held {
  readonly heldForMs: number
}

/**
 * Takes a subscription for a time; `missing` where there is no such repository. One that is seen for the first time
 * begins at the head of its journal, and one that waited for its repository at the base.
 */
export const takeSubscription = (
  { database, clock }: StandingDeps,
  subscription: Subscription,
  holder: string,
): Promise<Standing | Held | 'missing'> =>
  database.transaction(async (tx) => {
    const nowMs = clock.now()
    const now = timestamp(nowMs)
    const { id, repository } = subscription
    const fresh = newRow(subscription, now)
    const isNew = await insertWebhook(tx, fresh)
    const known = await lockWebhook(tx, id)
    // It was given up at this moment; next time it is new.
    if (known === undefined) return { heldForMs: 0 }
    const heldForMs = leaseLeft(known, nowMs)
    if (known.holder !== holder && heldForMs > 0) {
      await updateWebhook(tx, id, { named_at: now })
      return { heldForMs }
    }
    const hasMoved = known.repository !== repository
    if (hasMoved) await closeCursor(tx, { repository: known.repository, name: cursorOf(id) })
    const cursor = { repository, name: cursorOf(id) }
    const position = await openCursor(tx, cursor, now, isNew || hasMoved ? 'head' : 'base')
    const lease =
      position === undefined
        ? { holder: null, leased_until: null }
        : { holder, leased_until: timestamp(nowMs + webhookLeaseMs) }
    const { id: _same, created_at: _made, ...anew } = fresh
    const said = { host: fresh.host, actions: fresh.actions, named_at: now }
    await updateWebhook(tx, id, { ...(hasMoved ? anew : said), ...lease })
    if (position === undefined) return 'missing'
    const { failures, failing_since: failingSince, next_try_at: nextTryAt } = hasMoved ? fresh : known
    return { position, failures, failingSince, nextTryAt }
  }, relaxed)

/**
 * How long a lease has left. One that says more than any lease has was written before the clock was set back, and holds
 * no more: whoever wrote it may be dead, and nobody would come after it for as long as it says.
 */
export const leaseLeft = ({ holder, leased_until }: WebhooksTable, nowMs: number): number => {
  if (holder === null || leased_until === null) return 0
  const leftMs = Date.parse(leased_until) - nowMs
  return leftMs > webhookLeaseMs + webhookLeaseSpareMs ? 0 : Math.max(0, leftMs)
}

/** True while a worker delivers it. */
export const isHeld = async ({ database, clock }: StandingDeps, id: string): Promise<boolean> => {
  const row = await findWebhook(database.reader, id)
  return row !== undefined && leaseLeft(row, clock.now()) > 0
}

const newRow = (subscription: Subscription, now: string): WebhooksTable => ({
  id: subscription.id,
  repository: subscription.repository,
  host: hostOf(subscription),
  actions: subscription.actions === null ? null : JSON.stringify(subscription.actions),
  created_at: now,
  named_at: now,
  holder: null,
  leased_until: null,
  last_success_at: null,
  failing_since: null,
  failures: 0,
  error_code: null,
  next_try_at: null,
  lost: 0,
})

export interface Note {
  readonly position: number
  /** When a receiver last took an event; null where that is noted. */
  readonly lastSuccessAt: string | null
  /** What else there is to be written down. */
  readonly to: Partial<WebhooksTable>
  /** Events that were forgotten before they were sent. */
  readonly lost?: number
}

/** What a note finds: somebody may have asked for the next try at once. */
export interface Noted {
  readonly nextTryAt: string | null
}

export interface NoteOf {
  readonly subscription: Subscription
  readonly note: Note
}

/**
 * Moves the cursors of subscriptions, writes down how it went with each, and keeps their leases, all in one
 * transaction. Null for each that another worker has.
 */
export const noteSubscriptions = (
  { database, clock }: StandingDeps,
  holder: string,
  notes: readonly NoteOf[],
): Promise<(Noted | null)[]> =>
  database.transaction(async (tx) => {
    const ids = notes.map(({ subscription }) => subscription.id)
    const rows = new Map((await lockWebhooks(tx, ids)).map((row) => [row.id, row]))
    const heldRow = ({ subscription: { id, repository } }: NoteOf): WebhooksTable | null => {
      const row = rows.get(id)
      return row?.holder === holder && row.repository === repository ? row : null
    }
    const held = notes.filter((each) => heldRow(each) !== null)
    const now = timestamp(clock.now())
    const lease = { leased_until: timestamp(clock.now() + webhookLeaseMs), named_at: now }
    const kept = held.map(({ subscription: { id }, note: { lastSuccessAt } }) => ({ id, lastSuccessAt }))
    await keepWebhooks(tx, kept, lease)
    for (const { subscription, note } of held) await writeMore(tx, subscription.id, note)
    for (const [repository, all] of Map.groupBy(held, ({ subscription }) => subscription.repository)) {
      const moves = all.map(({ subscription: { id }, note: { position } }) => ({
        name: cursorOf(id),
        sequence: position,
      }))
      await moveCursors(tx, repository, moves, now)
    }
    return notes.map((each) => {
      const row = heldRow(each)
      if (row === null) return null
      const { next_try_at: nextTryAt = row.next_try_at } = each.note.to
      return { nextTryAt }
    })
  }, relaxed)

const writeMore = async (tx: Transaction, id: string, { to, lost = 0 }: Note): Promise<void> => {
  if (Object.keys(to).length > 0) await updateWebhook(tx, id, to)
  if (lost > 0) await addLost(tx, id, lost)
}

/** Whoever has it tries again within seconds. False where there is no such subscription. */
export const tryAtOnce = ({ database }: Pick<StandingDeps, 'database'>, id: string): Promise<boolean> =>
  database.transaction(async (tx) => {
    if ((await lockWebhook(tx, id)) === undefined) return false
    await updateWebhook(tx, id, { next_try_at: null })
    return true
  })

/** It is delivered no more, and nothing is kept for it. Not if somebody has named it since the time that is said. */
export const giveUpSubscription = (
  { database }: Pick<StandingDeps, 'database'>,
  id: string,
  unnamedSince?: string,
): Promise<boolean> =>
  database.transaction(async (tx) => {
    const row = await lockWebhook(tx, id)
    if (row === undefined || (unnamedSince !== undefined && row.named_at !== unnamedSince)) return false
    await forget(tx, row)
    return true
  })

const forget = async (tx: Transaction, { id, repository }: WebhooksTable): Promise<void> => {
  await closeCursor(tx, { repository, name: cursorOf(id) })
  await deleteWebhook(tx, id)
}

/**
 * Gives up subscriptions that nobody names any more. Whoever remembers when they saw each unnamed waits until it was
 * for long: files of several machines change one by one, and a worker may come back to what others have.
 */
export const giveUpUnnamed = async (
  deps: StandingDeps,
  named: ReadonlySet<string>,
  seen: Map<string, { readonly namedAt: string; readonly sinceMs: number }>,
): Promise<string[]> => {
  const { database, clock } = deps
  const given: string[] = []
  const rows = await namedWebhooks(database.reader, webhooksShownMax)
  for (const { id, named_at } of rows) {
    const before = seen.get(id)
    if (named.has(id)) seen.delete(id)
    else if (before?.namedAt !== named_at) seen.set(id, { namedAt: named_at, sinceMs: clock.now() })
    else if (clock.now() - before.sinceMs >= webhookUnnamedMs && (await giveUpSubscription(deps, id, named_at)))
      given.push(id)
  }
  for (const id of seen.keys()) if (!rows.some((row) => row.id === id)) seen.delete(id)
  return given
}
