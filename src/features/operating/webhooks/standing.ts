import type { Database, Transaction } from '../../../database/database.ts'
import type { WebhooksTable } from '../../../database/tables/webhooks.ts'
import { closeCursor, moveCursor, openCursor } from '../../../journal/repository/cursors.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { webhookLeaseMs, webhooksShownMax, webhookUnnamedMs } from '../../../kernel/limits/webhooks.ts'
import { cursorOf, hostOf, type Subscription } from './subscription.ts'
import {
  deleteWebhook,
  insertWebhook,
  lockWebhook,
  namedWebhooks,
  standingWebhooks,
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

/**
 * Takes a subscription for a time. Null while another worker has it; `missing` where there is no such repository. One
 * that is seen for the first time begins at the head of its journal.
 */
export const takeSubscription = (
  { database, clock }: StandingDeps,
  subscription: Subscription,
  holder: string,
): Promise<Standing | null | 'missing'> =>
  database.transaction(async (tx) => {
    const now = timestamp(clock.now())
    const { id, repository } = subscription
    const known = await lockWebhook(tx, id)
    if (known !== undefined && heldByAnother(known, holder, now)) {
      await updateWebhook(tx, id, { named_at: now })
      return null
    }
    const moved = known !== undefined && known.repository !== repository
    if (moved) await closeCursor(tx, { repository: known.repository, name: cursorOf(id) })
    const position = await openCursor(tx, { repository, name: cursorOf(id) }, now)
    if (position === undefined) return 'missing'
    if (known === undefined) await insertWebhook(tx, newRow(subscription, now))
    const row = moved || known === undefined ? newRow(subscription, now) : known
    const lease = { holder, leased_until: timestamp(clock.now() + webhookLeaseMs), named_at: now }
    const { created_at: _made, ...fresh } = newRow(subscription, now)
    const said = { host: fresh.host, actions: fresh.actions, repository }
    await updateWebhook(tx, id, { ...(moved ? fresh : said), ...lease })
    return {
      position,
      failures: row.failures,
      failingSince: row.failing_since,
      nextTryAt: row.next_try_at,
    }
  }, relaxed)

const heldByAnother = ({ holder, leased_until }: WebhooksTable, own: string, now: string): boolean =>
  holder !== null && holder !== own && leased_until !== null && leased_until > now

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
  readonly to: Partial<WebhooksTable>
  /** Events that were forgotten before they were sent. */
  readonly lost?: number
}

/** What a note finds: somebody may have asked for the next try at once. */
export interface Noted {
  readonly nextTryAt: string | null
}

/** Moves the cursor and writes down how it went, and keeps the lease. Null when another worker has it. */
export const noteSubscription = (
  { database, clock }: StandingDeps,
  { id, repository }: Subscription,
  holder: string,
  { position, to, lost = 0 }: Note,
): Promise<Noted | null> =>
  database.transaction(async (tx) => {
    const row = await lockWebhook(tx, id)
    if (row === undefined || row.holder !== holder || row.repository !== repository) return null
    const now = timestamp(clock.now())
    const lease = { leased_until: timestamp(clock.now() + webhookLeaseMs), named_at: now }
    await updateWebhook(tx, id, { ...lease, ...to, ...(lost === 0 ? {} : { lost: row.lost + lost }) })
    await moveCursor(tx, { repository, name: cursorOf(id) }, position, now)
    return { nextTryAt: to.next_try_at === undefined ? row.next_try_at : to.next_try_at }
  }, relaxed)

/** Whoever has it tries again within seconds. False where there is no such subscription. */
export const tryAtOnce = ({ database }: Pick<StandingDeps, 'database'>, id: string): Promise<boolean> =>
  database.transaction(async (tx) => {
    if ((await lockWebhook(tx, id)) === undefined) return false
    await updateWebhook(tx, id, { next_try_at: null })
    return true
  })

/** It is delivered no more, and nothing is kept for it. */
export const giveUpSubscription = ({ database }: Pick<StandingDeps, 'database'>, id: string): Promise<boolean> =>
  database.transaction(async (tx) => {
    const row = await lockWebhook(tx, id)
    if (row === undefined) return false
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
    else if (clock.now() - before.sinceMs >= webhookUnnamedMs && (await giveUpSubscription(deps, id))) given.push(id)
  }
  for (const id of seen.keys()) if (!rows.some((row) => row.id === id)) seen.delete(id)
  return given
}

/** How every subscription stands. */
export interface WebhookStanding {
  readonly id: string
  readonly repository: string
  readonly host: string
  readonly actions: string[] | null
  readonly createdAt: string
  readonly position: string
  readonly head: string
  readonly failingSince: string | null
  readonly failures: number
  readonly errorCode: string | null
  readonly nextTryAt: string | null
  readonly lastSuccessAt: string | null
  readonly lostEvents: number
}

export const webhooksStand = async ({ database }: Pick<StandingDeps, 'database'>): Promise<WebhookStanding[]> => {
  const rows = await standingWebhooks(database.reader, webhooksShownMax)
  return rows.map((row) => ({
    id: row.id,
    repository: row.repository,
    host: row.host,
    actions: actionsOf(row.actions),
    createdAt: row.created_at,
    position: String(row.position ?? row.head),
    head: String(row.head),
    failingSince: row.failing_since,
    failures: row.failures,
    errorCode: row.error_code,
    nextTryAt: row.next_try_at,
    lastSuccessAt: row.last_success_at,
    lostEvents: row.lost,
  }))
}

const actionsOf = (stored: string | null): string[] | null => {
  if (stored === null) return null
  const parsed: unknown = JSON.parse(stored)
  return Array.isArray(parsed) ? parsed.filter((each) => typeof each === 'string') : []
}
