import type { FastifyRequest } from 'fastify'
import type { Arrival } from './pipeline.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Id of the operation that the route serves. */
    operationId?: string
    /** Path template as declared; the route's metrics label. */
    template?: string
  }
  interface FastifyRequest {
    exchange: Exchange | null
  }
}

/** One request and its answer. */
export interface Exchange {
  readonly requestId: string
  readonly startedAtMs: number
  /** Headers that every answer to this request bears. */
  readonly headers: Record<string, string>
  /** Set before anything of the catalog is read: from then on no answer leaves before what it may tell is durable. */
  readsCatalog: boolean
  /** Set once the caller was admitted. */
  arrival: Arrival | null
  /** Runs out when a JSON body does not come. */
  bodyTimer: NodeJS.Timeout | null
}

const bootId = Date.now().toString(36)
let counter = 0

/** Unique across restarts, short enough to read out. */
export const nextRequestId = (): string => {
  counter += 1
  return `${bootId}-${counter.toString(36)}`
}

/** The exchange of a request; begins it if this is the first to ask. */
export const exchangeOf = (request: FastifyRequest): Exchange => {
  request.exchange ??= begin()
  return request.exchange
}

const begin = (): Exchange => {
  const requestId = nextRequestId()
  return {
    requestId,
    startedAtMs: performance.now(),
    headers: { 'x-request-id': requestId },
    readsCatalog: false,
    arrival: null,
    bodyTimer: null,
  }
}
