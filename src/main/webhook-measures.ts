import { type WebhookStanding, webhooksStand } from '../features/operating/webhooks/shown.ts'
import type { StandingDeps } from '../features/operating/webhooks/standing.ts'
import type { Measure } from '../http/metrics/measures.ts'

/** How the subscriptions of webhooks stand, wherever they are delivered. */
export const webhookMeasures = (deps: StandingDeps): Measure[] => {
  const gauge = (name: string, help: string, of: (standing: WebhookStanding) => number, withCode = false): Measure => ({
    name,
    help: `${help}, by subscription.`,
    kind: 'gauge',
    ofAll: true,
    ofCatalog: true,
    labels: withCode ? ['webhook', 'code'] : ['webhook'],
    read: async () => {
      const all = await webhooksStand(deps).catch(() => [])
      return all.map((standing) => ({
        labels: { webhook: standing.id, ...(withCode ? { code: standing.errorCode ?? '' } : {}) },
        value: of(standing),
      }))
    },
  })
  return [
    gauge(
      'svc_webhook_failing',
      '1 while a delivery fails, with why',
      ({ failingSince }) => (failingSince === null ? 0 : 1),
      true,
    ),
    gauge(
      'svc_webhook_last_success_timestamp_seconds',
      'When a receiver last took an event; 0 for never',
      ({ lastSuccessAt }) => (lastSuccessAt === null ? 0 : Date.parse(lastSuccessAt) / 1000),
    ),
    gauge('svc_webhook_position', 'The last event that is done with', ({ position }) => Number(position)),
    gauge(
      'svc_webhook_behind',
      'Events of the repository behind the last one that is done with',
      ({ head, position }) => Math.max(0, Number(head) - Number(position)),
    ),
    gauge(
      'svc_webhook_lost_events',
      'Events that were forgotten before they were sent',
      ({ lostEvents }) => lostEvents,
    ),
  ]
}
