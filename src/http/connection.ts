import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { connectionIdleMs, pipelinedWaitingMax } from '../kernel/connection-limits.ts'
import type { Crowd, Member } from './crowd.ts'
import { beginExchange, type Exchange } from './exchange.ts'
import type { Lingering } from './lingering.ts'

export interface ConnectionParts {
  readonly crowd: Crowd
  readonly lingering: Lingering
  readonly serve: Serve
  readonly report: (error: unknown) => void
}

type Serve = (request: IncomingMessage, response: ServerResponse) => void

interface Arrived {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

interface UnderWay extends Arrived {
  readonly exchange: Exchange
}

/** Requests that wait behind another one of their connection, on all connections. */
let waitingEverywhere = 0

/**
 * A connection and its requests, which are served one after another in the order in which they came. A client may send more
 * before it has its answer (RFC 9112, section 9.3.2): nothing is read on then, so that what waits is what came in one packet.
 *
 * The exchange of the request that is served ends with its answer, and with the connection if that is sooner. The end of the
 * connection is what the socket says, not the response, which learns of it only while it is connected.
 */
export class Connection {
  readonly #socket: Socket
  readonly #parts: ConnectionParts
  readonly #member: Member
  readonly #hasRoom: boolean
  #underWay: UnderWay | null = null
  #waiting: Arrived[] = []
  /** Said instead of the next answer: what came is no request. */
  #lastWords: string | null = null
  /** Our side is closed. */
  #closing = false

  constructor(socket: Socket, network: string | null, parts: ConnectionParts) {
    this.#socket = socket
    this.#parts = parts
    this.#member = { network, close: () => void socket.destroy() }
    this.#hasRoom = parts.crowd.enter(this.#member)
    socket.on('close', () => {
      parts.crowd.leave(this.#member)
      this.#forgetWaiting()
      this.#underWay?.exchange.scope.end()
    })
    // Whoever reads the body of the request under way lets the socket go on.
    socket.on('resume', () => {
      if (this.#holds) socket.pause()
    })
  }

  /** A request has come: it is served when those before it are answered. */
  arrive(request: IncomingMessage, response: ServerResponse): void {
    if (this.#closing) {
      this.#socket.destroy()
      return
    }
    if (this.#underWay === null) {
      this.#begin({ request, response })
      return
    }
    this.#waiting.push({ request, response })
    waitingEverywhere += 1
    if (waitingEverywhere > pipelinedWaitingMax) this.#socket.destroy()
    else this.#socket.pause()
  }

  /** Nothing moved for a while. That is as it should be while it is us who are waited for, and the client has taken what there is. */
  quiet(): void {
    const { response } = this.#underWay ?? {}
    const ours = response !== undefined && !(response.headersSent && this.#socket.writableLength > 0)
    if (ours) this.#socket.setTimeout(connectionIdleMs)
    else this.#socket.destroy()
  }

  /** What came is no request, and nothing after it can be one: `text` is the last answer. */
  giveUp(text: string): void {
    // Of what is dropped nothing is expected.
    if (this.#closing && this.#socket.readable) return
    const { request, response } = this.#underWay ?? {}
    if (!this.#socket.writable || (request?.complete === false && response?.headersSent === true)) {
      this.#socket.destroy()
    } else if (request?.complete === true) {
      this.#lastWords ??= text
      this.#socket.pause()
    } else {
      this.#socket.write(text)
      this.#close(null)
    }
  }

  /** Ends our side, and with it the exchange; whoever waits for the rest of a body waits in vain. */
  #close(request: IncomingMessage | null): void {
    this.#closing = true
    this.#parts.lingering.close(this.#socket, request)
    this.#underWay?.exchange.scope.end()
  }

  get #holds(): boolean {
    return this.#waiting.length > 0 || this.#lastWords !== null
  }

  #begin(arrived: Arrived): void {
    const exchange = beginExchange(arrived.request, {
      report: this.#parts.report,
      hasRoom: this.#hasRoom,
      lingerThenClose: () => this.#close(arrived.request),
    })
    this.#parts.crowd.begin(this.#member)
    this.#underWay = { ...arrived, exchange }
    // Taken first, given back last: the next one begins when nothing of this one is left.
    exchange.scope.own(() => this.#next())
    arrived.response.once('close', () => exchange.scope.end())
    this.#parts.serve(arrived.request, arrived.response)
  }

  #next(): void {
    const request = this.#underWay?.request
    this.#underWay = null
    this.#parts.crowd.rest(this.#member)
    if (!this.#socket.writable) {
      this.#forgetWaiting()
      return
    }
    if (request?.complete === false) this.#parts.lingering.passOver(this.#socket, request)
    const next = this.#waiting.shift()
    if (next !== undefined) {
      waitingEverywhere -= 1
      if (!this.#holds) this.#socket.resume()
      this.#begin(next)
    } else if (this.#lastWords !== null) {
      this.#socket.write(this.#lastWords)
      this.#close(null)
    }
  }

  #forgetWaiting(): void {
    waitingEverywhere -= this.#waiting.length
    this.#waiting = []
  }
}
