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
    return {
      id: row.id,
      repository: row.repository,
      host: row.host,
      actions: actionsOf(row.actions),
      createdAt: row.created_at,
      state: stateOf(row, row.head !== null && row.deleted_at === null, nowMs),
      position: String(row.position ?? head),
      head: String(head),
      failingSince: row.failing_since,
      failures: row.failures,
      errorCode: row.error_code,
      nextTryAt: row.next_try_at,
      lastSuccessAt: row.last_success_at,
      lostEvents: row.lost,
    }
  })
}

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
