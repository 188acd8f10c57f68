import type { WebhooksTable } from '../../../database/tables/webhooks.ts'
import { webhooksShownMax } from '../../../kernel/limits/webhooks.ts'
import { leaseLeft, type StandingDeps } from './standing.ts'
import type { WebhookState } from './vocabulary.ts'
import { standingWebhooks } from './webhooks.queries.ts'

/** How a subscription stands. */
export interface WebhookStanding {
  readonly id: string
  readonly repository: string
  readonly host: string
  readonly actions: string[] | null
  readonly createdAt: string
  readonly state: WebhookState
  readonly position: string
  readonly head: string
  readonly failingSince: string | null
  readonly failures: number
  readonly errorCode: string | null
  readonly nextTryAt: string | null
  readonly lastSuccessAt: string | null
  readonly lostEvents: number
}

export const webhooksStand = async ({ database, clock }: StandingDeps): Promise<WebhookStanding[]> => {
  const rows = await standingWebhooks(database.reader, webhooksShownMax)
  const nowMs = clock.now()
  return rows.map((row) => {
    const head = row.head ?? 0
    const position = row.position ?? head
    const hasRepository = row.head !== null && row.deleted_at === null
    return {
      id: row.id,
      repository: row.repository,
      host: row.host,
      actions: actionsOf(row.actions),
      createdAt: row.created_at,
      state: stateOf(row, hasRepository, nowMs),
      position: String(position),
      head: String(head),
      failingSince: row.failing_since,
      failures: row.failures,
      errorCode: row.error_code,
      nextTryAt: row.next_try_at,
      lastSuccessAt: row.last_success_at,
      lostEvents: row.lost + (hasRepository ? forgotten({ ...row, head, position }) : 0),
    }
  })
}

interface Reach {
  readonly position: number
  readonly base: number | null
  readonly first: number | null
  readonly head: number
}

/** What is no longer there of what comes next: it is counted before anybody goes on from there. */
const forgotten = ({ position, base, first, head }: Reach): number =>
  Math.max(0, Math.max(base ?? 0, (first ?? head + 1) - 1) - position)

const stateOf = (row: WebhooksTable, hasRepository: boolean, nowMs: number): WebhookState => {
  if (!hasRepository) return 'no_repository'
  if (leaseLeft(row, nowMs) === 0) return 'no_worker'
  return row.failing_since === null ? 'delivering' : 'failing'
}

const actionsOf = (stored: string | null): string[] | null => {
  if (stored === null) return null
  const parsed: unknown = JSON.parse(stored)
  return Array.isArray(parsed) ? parsed.filter((each) => typeof each === 'string') : []
}
