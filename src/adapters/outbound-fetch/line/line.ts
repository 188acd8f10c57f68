import type { Socket } from 'node:net'
import type { OutboundHttp, OutboundLine, PostRequest } from '../../../ports/outbound-http.ts'
import { leadsTo } from '../addresses.ts'
import type { Target } from '../connecting.ts'
import { Deadline } from '../deadline.ts'
import { translate } from '../failures.ts'
import { keep } from './connection.ts'
import { failureOf, isUnaskedContinue, isUnsendable } from './errors.ts'
import type { Wire } from './wire.ts'

export interface LineOptions {
  readonly url: URL
  readonly userAgent: string
  /** Where a connection is to lead; throws where none may. */
  readonly targetOf: (url: URL) => Target
  /** Opens a connection to what was looked at. */
  readonly connect: (target: Target) => Promise<Socket>
  readonly forbidden: () => boolean
  /** How the door asks anything, for receivers with whom a line is no use. */
  readonly ask: OutboundHttp['ask']
}

/** It is large, and few processes ever need it. */
const client = () => import('./wire.ts')

/**
 * A line: a connection that is kept, and opened anew where it has to be. It posts and hears a status, for half of what
 * a request of the door costs.
 */
export const openLine = ({ url, userAgent, targetOf, connect, forbidden, ask }: LineOptions): OutboundLine => {
  const path = `${url.pathname}${url.search}`
  let target: Target | null = null
  let wire: Wire | null = null
  let isBusy = false
  /** A receiver that says "100 Continue" although nobody asks it to; the client of a line takes that for no answer. */
  let isOfManyWords = false

  const opened = async () => {
    target = targetOf(url)
    try {
      return keep(await connect(target), target)
    } catch (error) {
      throw translate(error, target.attempt)
    }
  }

  const drop = (): void => {
    wire?.destroy()
    wire = null
  }

  const requestOf = ({ headers, body }: PostRequest, { proxy }: Target) => {
    const isPlainProxied = proxy !== null && url.protocol === 'http:'
    const authorization = isPlainProxied && proxy.authorization !== null
    return {
      method: 'POST',
      path: isPlainProxied ? url.href : path,
      headers: {
        'user-agent': userAgent,
        'accept-encoding': 'identity',
        ...headers,
        ...(authorization ? { 'proxy-authorization': proxy.authorization } : {}),
      },
      body,
    } as const
  }

  const postInFewWords = async (request: PostRequest, deadline: Deadline): Promise<number | null> => {
    for (;;) {
      target ??= targetOf(url)
      wire ??= (await client()).openWire(url.origin, opened)
      if (deadline.signal.aborted) throw deadline.reached(target.attempt, 'no connection')
      const mine = wire
      const answer = mine.send(requestOf(request, target))
      try {
        const head = await answer.head
        leadsTo(head, target, 0)
        return head.statusCode
      } catch (error) {
        if (deadline.signal.aborted)
          throw deadline.reached(target.attempt, answer.over === null ? 'no connection' : 'no answer')
        if (isUnsendable(error)) throw new Error('a header has what no header may have', { cause: error })
        if (isUnaskedContinue(error)) return null
        // Where it was kept, it was closed at the other end while nobody looked.
        if (!answer.wasKept || wire !== mine) throw failureOf(error, target.attempt)
      }
    }
  }

  const postInMany = async ({ headers, body, answerMs }: PostRequest, deadline: Deadline): Promise<number> => {
    const { signal } = deadline
    try {
      const request = { url: url.href, method: 'POST', headers, body, answerMs, signal, repeatable: true } as const
      return await ask({ ...request, bodyBytesMax: Number.MAX_SAFE_INTEGER }, async ({ status }) => status)
    } catch (error) {
      throw signal.aborted && target !== null ? deadline.reached(target.attempt, 'no answer') : error
    }
  }

  return {
    async post(request) {
      if (forbidden()) throw new Error('an address was asked inside a database transaction (I5)')
      if (isBusy) throw new Error('a line takes one request at a time')
      request.signal?.throwIfAborted()
      isBusy = true
      const deadline = new Deadline(request.answerMs, request.signal)
      deadline.signal.addEventListener('abort', drop, { once: true })
      try {
        const status = isOfManyWords ? null : await postInFewWords(request, deadline)
        if (status !== null) return status
        isOfManyWords = true
        drop()
        return await postInMany(request, deadline)
      } finally {
        deadline.end()
        isBusy = false
      }
    },
    close: drop,
  }
}
