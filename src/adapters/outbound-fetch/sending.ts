import http, { type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import { outboundEarlyAnswersMax, outboundHeadBytesMax } from '../../kernel/limits/outbound.ts'
import type { OutboundRequest } from '../../ports/outbound-http.ts'
import type { Target } from './connecting.ts'
import type { Deadline } from './deadline.ts'
import { failed, translate } from './failures.ts'

/**
 * Sends a request and resolves with the head of its answer. A connection that was kept may be closed by the other side
 * at the moment in which it is used again: what may be repeated is sent once more then, on another one.
 */
export const send = async (
  request: OutboundRequest,
  target: Target,
  agent: http.Agent,
  deadline: Deadline,
): Promise<Answered> => {
  const repeatable = request.repeatable ?? (request.method === 'GET' || request.method === 'HEAD')
  for (;;) {
    const sent = await sendOnce(request, target, agent, deadline)
    if (sent.response !== null) return sent
    if (!(sent.wasKept && repeatable)) throw sent.failure
  }
}

export interface Answered {
  readonly response: IncomingMessage
  /** What was wrong with the body, once that is known; the response only tells that it was cut. */
  readonly wrong: () => Error | null
}

type Sent = Answered | { readonly response: null; readonly failure: unknown; readonly wasKept: boolean }

const sendOnce = (
  { method, headers = {}, body }: OutboundRequest,
  target: Target,
  agent: http.Agent,
  deadline: Deadline,
): Promise<Sent> =>
  new Promise((resolve) => {
    const { url, proxy, attempt } = target
    const overPlainProxy = proxy !== null && url.protocol === 'http:'
    const options: RequestOptions & { readonly target: Target } = {
      target,
      agent,
      method,
      hostname: url.hostname,
      port: url.port,
      path: overPlainProxy ? url.href : `${url.pathname}${url.search}`,
      headers: {
        ...headers,
        ...(body !== undefined || sendsBody.has(method) ? { 'content-length': String(body?.byteLength ?? 0) } : {}),
        ...(overPlainProxy && proxy.authorization !== null ? { 'proxy-authorization': proxy.authorization } : {}),
      },
      maxHeaderSize: outboundHeadBytesMax,
      signal: deadline.signal,
    }
    const sending = (url.protocol === 'https:' ? https : http).request(options)
    let early = 0
    sending.on('information', () => {
      early += 1
      if (early > outboundEarlyAnswersMax)
        sending.destroy(failed(attempt, 'answer', 'it says too much before its answer'))
    })
    let wrong: Error | null = null
    sending.on('response', (response) => resolve({ response, wrong: () => wrong }))
    // Also after the answer began: what cuts its body is told to whoever reads that.
    const failing = (error: Error): void => {
      wrong = error
      if (attempt.addresses.length === 0) attempt.addresses = addressesOf(sending.socket?.remoteAddress)
      const wasKept = sending.reusedSocket && isCut(error) && !deadline.signal.aborted
      const failure = deadline.signal.aborted
        ? deadline.reached(attempt, sending.socket === null ? 'no connection' : 'no answer')
        : translate(error, attempt)
      resolve({ response: null, failure, wasKept })
    }
    sending.on('error', failing)
    // A request that has no connection yet ends only once it has one, or has none for good: whoever waits does not.
    const unconnected = (): void => {
      if (sending.socket === null) failing(new Error('no connection in time'))
    }
    if (deadline.signal.aborted) unconnected()
    else deadline.signal.addEventListener('abort', unconnected, { once: true })
    sending.end(body)
  })

/** Without a body they say so. */
const sendsBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

const addressesOf = (address: string | undefined): readonly string[] => (address === undefined ? [] : [address])

const isCut = (error: Error): boolean => 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
