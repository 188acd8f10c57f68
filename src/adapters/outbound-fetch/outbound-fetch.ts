import {
  outboundAtOnceMax,
  outboundAtOncePerOriginMax,
  outboundConnectMs,
  outboundPatienceMs,
  outboundSlowestBytesPerSecond,
} from '../../kernel/limits/outbound.ts'
import type { OutboundAnswer, OutboundHttp, OutboundLine, OutboundRequest } from '../../ports/outbound-http.ts'
import { addressOf, leadsTo, redirectsOf } from './addresses.ts'
import { leaveUnread, readAnswer } from './answer.ts'
import { createConnecting, type Target } from './connecting.ts'
import { Deadline } from './deadline.ts'
import { type Attempt, failed } from './failures.ts'
import { openLine } from './line/line.ts'
import type { Networks } from './networks.ts'
import { bareHost, type ProxyFor, portOf } from './proxies.ts'
import { createResolver, type Lookup } from './resolving.ts'
import { Seats } from './seats.ts'
import { type Answered, send } from './sending.ts'

export interface OutboundOptions {
  /** Networks that may be asked although they are not public. */
  readonly allowed: Networks
  /** Certificates (PEM) of authorities that are believed beside those of the system. */
  readonly authorities: readonly string[]
  readonly proxyFor: ProxyFor
  /** Who asks, such as `svc/1.2.3`. */
  readonly userAgent: string
  /** Plain HTTP to any host; else to this machine alone. */
  readonly plainHttp?: boolean
  /** True while nothing may be asked: inside a transaction (I5). */
  readonly forbidden?: () => boolean
  readonly atOnceMax?: number
  readonly connectMs?: number
  readonly patienceMs?: number
  readonly slowestBytesPerSecond?: number
  /** How names are looked up; as the system does it, unless it is said. */
  readonly lookup?: Lookup
}

/**
 * The one door to addresses that people typed. A host is resolved once, every address of it is looked at, and the
 * connection goes to what was looked at; so does that of each redirect, and each proxy is told only what was looked at
 * as far as it can be (docs/decisions/0084-the-door-outwards.md).
 */
export const openOutboundHttp = (options: OutboundOptions): OutboundHttp => {
  const { allowed, authorities, proxyFor, userAgent, plainHttp = false, forbidden = () => false } = options
  const seats = new Seats(options.atOnceMax ?? outboundAtOnceMax, outboundAtOncePerOriginMax)
  const connecting = createConnecting({
    resolve: createResolver(allowed, options.lookup),
    authorities,
    connectMs: options.connectMs ?? outboundConnectMs,
  })
  const pace = {
    patienceMs: options.patienceMs ?? outboundPatienceMs,
    slowestBytesPerSecond: options.slowestBytesPerSecond ?? outboundSlowestBytesPerSecond,
  }

  const lines = new Set<OutboundLine>()

  const targetOf = (url: URL): Target => {
    const proxy = proxyFor(url)
    const attempt: Attempt = {
      origin: url.origin,
      port: portOf(url),
      addresses: [],
      proxy: proxy === null ? null : `${proxy.host}:${proxy.port}`,
    }
    if (url.protocol === 'http:' && !plainHttp && !thisMachine.has(bareHost(url)))
      throw failed(attempt, 'blocked', 'plain HTTP is for this machine alone; write https://')
    return { url, proxy, attempt }
  }

  /** One request to one address: its answer, and how to leave the seat that it took. */
  const hop = async (request: OutboundRequest, target: Target, deadline: Deadline): Promise<Hop> => {
    const leave = await seats.take(target.url.origin, deadline.signal).catch(() => {
      throw deadline.reached(target.attempt, 'too many were asked at once; it was not sent')
    })
    try {
      return { answered: await send(request, target, connecting.agentFor(target), deadline), leave }
    } catch (error) {
      leave()
      throw error
    }
  }

  /** Asks one address after the other, as redirects lead, and hands the last answer on. */
  const along = async <T>(
    request: OutboundRequest,
    from: URL,
    deadline: Deadline,
    take: (answer: OutboundAnswer) => Promise<T>,
  ): Promise<T> => {
    const { bodyBytesMax, method } = request
    let url = from
    let credentials = request.credentials ?? {}
    for (let left = redirectsOf(request); ; left -= 1) {
      const target = targetOf(url)
      const headers = { 'user-agent': userAgent, 'accept-encoding': 'identity', ...request.headers, ...credentials }
      const { answered, leave } = await hop({ ...request, headers }, target, deadline)
      const { response } = answered
      try {
        const next = leadsTo(response, target, left)
        if (next === null) {
          deadline.lift()
          const hasBody = method !== 'HEAD' && response.statusCode !== 304
          return await readAnswer(answered, { target, deadline, bodyBytesMax, hasBody, ...pace }, take)
        }
        if (next.origin !== url.origin) credentials = {}
        url = next
        leaveUnread(response)
      } catch (error) {
        response.destroy()
        throw error
      } finally {
        leave()
      }
    }
  }

  const ask = async <T>(request: OutboundRequest, take: (answer: OutboundAnswer) => Promise<T>): Promise<T> => {
    if (forbidden()) throw new Error('an address was asked inside a database transaction (I5)')
    const deadline = new Deadline(request.answerMs, request.signal)
    try {
      return await along(request, addressOf(request), deadline, take)
    } finally {
      deadline.end()
    }
  }

  return {
    ask,
    line(text) {
      const url = addressOf({ url: text })
      const line = openLine({ url, userAgent, targetOf, connect: connecting.connect, forbidden, ask })
      lines.add(line)
      return {
        post: (request) => line.post(request),
        close() {
          lines.delete(line)
          line.close()
        },
      }
    },
    async [Symbol.asyncDispose]() {
      for (const line of lines) line.close()
      connecting.close()
    },
  }
}

interface Hop {
  readonly answered: Answered
  readonly leave: () => void
}

const thisMachine: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1'])
