import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Operation } from '../../contract/operation.ts'
import type { Wire } from '../../contract/wire.ts'
import type { Caller } from '../../kernel/caller.ts'
import type { Failure } from '../../kernel/failure.ts'
import { OwningScope } from '../../kernel/scope.ts'
import type { Arrival } from './pipeline.ts'
import { rest } from './rest.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Path template as declared; the route's metrics label. */
    template?: string
  }
}

/** One request and its answer. */
export interface Exchange {
  readonly requestId: string
  readonly startedAtMs: number
  /**
   * Ends when the answer is out or the connection has ended, whichever is first. Everything that is taken for the
   * request belongs to it.
   */
  readonly scope: OwningScope
  /** Headers that every answer to this request bears. */
  readonly headers: Record<string, string>
  /** Set before anything of the catalog is read: from then on no answer leaves before what it may tell is durable. */
  readsCatalog: boolean
  /** How whoever asks is spoken to: set as soon as the path is known. */
  wire: Wire
  /** What is asked for, once that is known. */
  operation: Operation | null
  /** Who asks, once that is known; whether they may is another question. */
  caller: Caller | null
  /** Where the client is, once somebody looked. */
  clientAddress: string | null
  /** What the request was refused with. */
  failure: Failure | null
  /** Bytes of the body that were received as a file, and of the answer's body that were handed over. */
  received: number
  sent: number
  /** Bytes that a proxy was left to send. */
  leftToProxy: number
  /** The proxy was left to send the file, could not, and asks again. */
  proxyFailed: boolean
  /** The last byte of the answer was handed over on a connection that stays open for a while. */
  lingers: boolean
  /** Set once the caller was admitted. */
  arrival: Arrival | null
  /**
   * Ends the connection once what was written is out, without taking the answer from a client that still sends. Nothing
   * more can be written.
   */
  readonly lingerThenClose: () => void
  /** False on a connection for which there was no room: it may only ask how the service is. */
  readonly hasRoom: boolean
  /** False when the network that a proxy speaks for has its share of requests already: that as well. */
  hasShare: boolean
  /** Of the client; null where a proxy that is trusted does not say whose request it is. */
  readonly network: string | null
  /** Set where the body is a file: it waits in a line, and who sends it slowly loses its place there. */
  receivesFile: boolean
  /** Told when the answer is whole and the client has not taken it yet. */
  readonly awaitTaking: () => void
  /** Told when the JSON body is here: it is not waited for any longer. */
  bodyHere: () => void
}

const bootId = Date.now().toString(36)
let counter = 0

/** Unique across restarts, short enough to read out. */
export const nextRequestId = (): string => {
  counter += 1
  return `${bootId}-${counter.toString(36)}`
}

/** Where a request keeps its exchange: asked for several times each, which costs less so than in a map beside them. */
const kept = Symbol('exchange')
declare module 'node:http' {
  interface IncomingMessage {
    [kept]?: Exchange
  }
}

/** Begins the exchange of a request. What fails while it is cleared away is reported. */
export const beginExchange = (
  request: IncomingMessage,
  {
    report,
    ...given
  }: Pick<Exchange, 'lingerThenClose' | 'hasRoom' | 'network' | 'awaitTaking'> & {
    readonly report: (error: unknown) => void
  },
): Exchange => {
  const requestId = nextRequestId()
  const exchange = {
    requestId,
    startedAtMs: performance.now(),
    scope: new OwningScope(report),
    // Who asks from another origin is answered otherwise, if only by a header; caches have to know.
    headers: { 'x-request-id': requestId, vary: 'Origin' },
    readsCatalog: false,
    wire: rest,
    operation: null,
    caller: null,
    clientAddress: null,
    failure: null,
    received: 0,
    sent: 0,
    leftToProxy: 0,
    proxyFailed: false,
    lingers: false,
    arrival: null,
    ...given,
    hasShare: true,
    receivesFile: false,
    bodyHere: () => {},
  }
  request[kept] = exchange
  return exchange
}

/** The exchange of a request that is being served. */
export const exchangeOf = ({ raw }: Pick<FastifyRequest, 'raw'>): Exchange => {
  const exchange = raw[kept]
  if (exchange === undefined) throw new Error(`${raw.method} is served outside of an exchange`)
  return exchange
}
