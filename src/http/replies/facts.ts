import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Operation } from '../../contract/operation.ts'
import type { Wire } from '../../contract/wire.ts'
import type { Caller } from '../../kernel/caller.ts'
import type { Failure } from '../../kernel/failure.ts'
import { loggedPathCharactersMax } from '../../kernel/limits/http.ts'
import type { Exchange } from '../pipeline/exchange.ts'
import { pathOf } from '../pipeline/target.ts'

/** What there is to say of a request that is over. */
export interface RequestFacts {
  readonly requestId: string
  readonly method: string
  /** As the routes know it, without its query; printable characters of ASCII alone, and not too many. */
  readonly path: string
  readonly operation: Operation | null
  /** Null where no answer began. */
  readonly status: number | null
  readonly failure: Failure | null
  readonly received: number
  readonly sent: number
  /** What the proxy in front was left to send. */
  readonly leftToProxy: number
  /** It could not, and asked again. */
  readonly proxyFailed: boolean
  /** All of the answer was handed over. */
  readonly whole: boolean
  readonly milliseconds: number
  readonly caller: Caller | null
  readonly clientAddress: string | null
}

/** To be called when a request begins; the answered function when it is over. */
export const factsOf = (request: IncomingMessage, response: ServerResponse, exchange: Exchange) => {
  // Later it is the one that the route is looked up by.
  const { method = '', url = '' } = request
  return (): RequestFacts => {
    const { requestId, startedAtMs, operation, failure, caller, clientAddress, lingers } = exchange
    const { received, sent, leftToProxy, proxyFailed, wire } = exchange
    return {
      requestId,
      method,
      path: shownPath(url, wire),
      operation,
      status: response.headersSent ? response.statusCode : null,
      failure,
      received,
      sent,
      leftToProxy,
      proxyFailed,
      whole: response.writableEnded || lingers,
      milliseconds: performance.now() - startedAtMs,
      caller,
      clientAddress,
    }
  }
}

const unprintable = /[^\x21-\x7e]/g

/** A path for people who read logs: whatever it holds, it draws nothing and hides nothing on their screen. */
const shownPath = (url: string, wire: Wire): string => {
  const [path = ''] = pathOf(url).split('?', 1)
  const shown = (wire.shown?.(path) ?? path).replaceAll(
    unprintable,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  return shown.length <= loggedPathCharactersMax ? shown : `${shown.slice(0, loggedPathCharactersMax)}…`
}
