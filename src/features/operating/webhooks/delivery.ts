import type { Clock } from '../../../kernel/clock.ts'
import { type JournalAction, withInnerDetail } from '../../../kernel/journal-actions.ts'
import { webhookAnswerMs } from '../../../kernel/limits/webhooks.ts'
import { second } from '../../../kernel/units.ts'
import { OutboundFailure, type OutboundLine, type OutboundTrouble } from '../../../ports/outbound-http.ts'
import { signature } from './signature.ts'
import { SecretUnusable, type Subscription } from './subscription.ts'

/** What a test of a receiver is called. */
export const testAction = 'webhook.test'

/** A line of the journal, as it is sent. */
export interface Event {
  readonly sequence: number
  readonly action: JournalAction | typeof testAction
  readonly artifactId: string
  readonly detail: string | null
}

/** Why a delivery failed, as it is told. */
export const deliveryCodes = [
  'blocked',
  'timeout',
  'network',
  'tls',
  'redirect',
  'http_4xx',
  'http_5xx',
  'secret',
] as const
type DeliveryCode = (typeof deliveryCodes)[number]

export interface DeliveryFault {
  readonly code: DeliveryCode
  /** In words, without the address's path and without anything that the receiver said. */
  readonly why: string
}

interface DeliveryDeps {
  readonly line: OutboundLine
  readonly clock: Clock
}

/** A subscription with what it is signed by. */
export interface Signed {
  readonly subscription: Pick<Subscription, 'repository'>
  /** The secret, and behind it the next one where there is one. Throws a {@link SecretUnusable}. */
  readonly secrets: () => Promise<readonly Uint8Array[]>
}

/** Sends one event once. Null when the receiver took it; throws what the signal throws. */
export const deliver = async (
  { line, clock }: DeliveryDeps,
  { subscription, secrets }: Signed,
  event: Event,
  signal?: AbortSignal,
): Promise<DeliveryFault | null> => {
  const { repository } = subscription
  const id = `${repository}:${event.sequence}`
  const body = JSON.stringify({
    id,
    repository,
    sequence: String(event.sequence),
    action: event.action,
    artifactId: event.artifactId,
    detail: event.action !== testAction && withInnerDetail.has(event.action) ? null : event.detail,
  })
  const timestamp = String(Math.floor(clock.now() / second))
  try {
    const headers = {
      'content-type': 'application/json',
      'x-svc-delivery': id,
      'x-svc-event': event.action,
      'x-svc-timestamp': timestamp,
      'x-svc-signature': signature(await secrets(), timestamp, body),
    }
    const status = await line.post({
      headers,
      body: Buffer.from(body),
      answerMs: webhookAnswerMs,
      ...(signal === undefined ? {} : { signal }),
    })
    return faultOf(status)
  } catch (error) {
    if (error instanceof SecretUnusable) return { code: 'secret', why: error.message }
    if (error instanceof OutboundFailure) return { code: codes[error.trouble], why: error.message }
    throw error
  }
}

const codes: Readonly<Record<OutboundTrouble, DeliveryCode>> = {
  blocked: 'blocked',
  timeout: 'timeout',
  network: 'network',
  tls: 'tls',
  redirect: 'redirect',
  answer: 'network',
}

const faultOf = (status: number): DeliveryFault | null => {
  if (status >= 200 && status < 300) return null
  const code =
    status < 300 || status > 599 ? 'network' : status < 400 ? 'redirect' : status < 500 ? 'http_4xx' : 'http_5xx'
  return { code, why: `the receiver answers ${status}` }
}
