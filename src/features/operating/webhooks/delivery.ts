import type { Clock } from '../../../kernel/clock.ts'
import { type JournalAction, withInnerDetail } from '../../../kernel/journal-actions.ts'
import { webhookAnswerMs } from '../../../kernel/limits/webhooks.ts'
import { second } from '../../../kernel/units.ts'
import { OutboundFailure, type OutboundHttp, type OutboundTrouble } from '../../../ports/outbound-http.ts'
import { signature } from './signature.ts'
import { SecretUnusable, type Subscribed } from './subscription.ts'

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
  readonly door: OutboundHttp
  readonly clock: Clock
}

/** Sends one event once. Null when the receiver took it; throws what the signal throws. */
export const deliver = async (
  { door, clock }: DeliveryDeps,
  { subscription, secrets }: Subscribed,
  event: Event,
  signal?: AbortSignal,
): Promise<DeliveryFault | null> => {
  const { url, repository } = subscription
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
    const status = await door.ask(
      {
        url,
        method: 'POST',
        headers,
        body: Buffer.from(body),
        repeatable: true,
        answerMs: webhookAnswerMs,
        // The head alone says it; of the body some bytes are read for the connection's sake, and ignored.
        bodyBytesMax: Number.MAX_SAFE_INTEGER,
        ...(signal === undefined ? {} : { signal }),
      },
      async (answer) => answer.status,
    )
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
