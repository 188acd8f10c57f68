import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipelinedWaitingMax, unwantedBodyBytesMax } from '../../kernel/limits/http.ts'
import type { Timers } from '../../kernel/timers.ts'
import { beginExchange, type Exchange } from '../pipeline/exchange.ts'
import type { Crowd } from './crowd.ts'
import type { Lingering } from './lingering.ts'
import type { Proxied } from './proxied.ts'
import type { Member } from './seats.ts'
import { Shares } from './shares.ts'
import { watchTaking } from './taking.ts'

export interface ConnectionDeps {
  readonly crowd: Crowd
  readonly lingering: Lingering
  readonly proxied: Proxied
  /** The network of the client that a trusted proxy speaks for; null where it does not say. */
  readonly networkBehind: (request: IncomingMessage) => string | null
  readonly timers: Timers
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

interface Waiting extends Arrived {
  readonly connection: Connection
}

/** What is said instead of the next answer, after which nothing comes. */
interface LastWords {
  readonly text: string
  /** What had come then, on the whole connection. */
  readonly bytesRead: number
}

/** Requests that wait behind another one of their connection, on all connections. */
const waitingEverywhere = new Shares<Waiting>()

/**
 * A connection and its requests, which are served one after another in the order in which they came. A client may send
 * more before it has its answer (RFC 9112, section 9.3.2): nothing is read on then, so that what waits is what came in
 * one packet.
 *
 * The exchange of the request that is served ends with its answer, and with the connection if that is sooner. The end
 * of the connection is what the socket says, not the response, which learns of it only while it is connected.
 */
export class Connection {
  readonly #socket: Socket
  readonly #deps: ConnectionDeps
  readonly #member: Member
  readonly #hasRoom: boolean
  #underWay: UnderWay | null = null
  #waiting: Waiting[] = []
  #lastWords: LastWords | null = null
  /** Our side is closed. */
  #closing = false

  constructor(socket: Socket, network: string | null, deps: ConnectionDeps) {
    this.#socket = socket
    this.#deps = deps
    this.#member = this.#asMember(network)
    this.#hasRoom = deps.crowd.enter(this.#member)
    const stopWatching = watchTaking(socket, deps.timers)
    socket.on('close', () => {
      stopWatching()
      deps.crowd.leave(this.#member)
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
    if (this.#lastWords !== null) {
      request.resume()
      return
    }
    if (this.#closing) {
      this.#socket.destroy()
      return
    }
    if (this.#underWay === null) {
      this.#begin({ request, response })
      return
    }
    const waiting = { request, response, connection: this }
    this.#waiting.push(waiting)
    waitingEverywhere.add(this.#member.network, waiting)
    this.#socket.pause()
    if (waitingEverywhere.size <= pipelinedWaitingMax) return
    const { thing } = waitingEverywhere.oldestOfMost ?? { thing: waiting }
    thing.connection.#end()
  }

  /**
   * Nothing moved for a while. With a request under way that is as it should be: whoever waits for its client has a
   * clock.
   */
  quiet(): void {
    if (this.#underWay === null) this.#socket.destroy()
  }

  /**
   * What came is no request, and nothing after it can be one: `text` is the last answer, also to a request that waits
   * and whose body can therefore not come. Something more is read and dropped meanwhile, so that the end of the
   * connection is heard.
   */
  giveUp(text: string): void {
    // Of what is dropped nothing is expected.
    if (this.#closing && this.#socket.readable) return
    if (this.#lastWords !== null) {
      if (this.#holds) this.#socket.pause()
      return
    }
    const { request, response } = this.#underWay ?? {}
    if (!this.#socket.writable || (request?.complete === false && response?.headersSent === true)) {
      this.#socket.destroy()
    } else if (request?.complete === true) {
      this.#lastWords = { text, bytesRead: this.#socket.bytesRead }
      this.#forgetWaiting(({ request: { complete } }) => !complete)
      this.#socket.resume()
    } else {
      this.#socket.write(text)
      this.#close(null)
    }
  }

  /** Ends our side, and with it the exchange; whoever waits for the rest of a body waits in vain. */
  #close(request: IncomingMessage | null): void {
    this.#closing = true
    const network = this.#underWay?.exchange.network ?? this.#member.network
    this.#deps.lingering.close(this.#socket, network, request)
    this.#underWay?.exchange.scope.end()
    this.#deps.crowd.linger(this.#member)
  }

  #end(): void {
    this.#forgetWaiting()
    this.#socket.destroy()
  }

  #asMember(network: string | null): Member {
    const connection = this
    return {
      network,
      get isBusy() {
        return connection.#isBusy
      },
      close: () => this.#end(),
    }
  }

  /** A request is under way, its body is here or a file, and its answer is not one that is whole and not taken. */
  get #isBusy(): boolean {
    if (this.#underWay === null) return false
    const { request, response, exchange } = this.#underWay
    const isHere = request.complete || exchange.receivesFile
    return isHere && !(response.writableEnded && this.#socket.writableLength > 0)
  }

  get #holds(): boolean {
    if (this.#lastWords === null) return this.#waiting.length > 0
    return this.#socket.bytesRead - this.#lastWords.bytesRead > unwantedBodyBytesMax
  }

  #begin({ request, response }: Arrived): void {
    const { crowd, proxied, report, networkBehind, serve } = this.#deps
    const network = this.#member.network ?? networkBehind(request)
    const exchange = beginExchange(request, {
      report,
      network,
      hasRoom: this.#hasRoom,
      lingerThenClose: () => this.#close(request),
      awaitTaking: () => crowd.wait(this.#member),
    })
    crowd.wait(this.#member)
    this.#underWay = { request, response, exchange }
    // Taken first, given back last: the next one begins when nothing of this one is left.
    exchange.scope.own(() => this.#next())
    if (this.#member.network === null && network !== null) exchange.hasShare = proxied.enter(exchange.scope, network)
    // What came in one packet with the offer of another protocol is lost: Node stops reading HTTP there.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    response.once('close', () => exchange.scope.end())
    serve(request, response)
  }

  #next(): void {
    const { request, exchange } = this.#underWay ?? {}
    this.#underWay = null
    this.#deps.crowd.wait(this.#member)
    if (!this.#socket.writable) {
      this.#forgetWaiting()
      return
    }
    if (request?.complete === false) this.#passOver(request, exchange?.network ?? this.#member.network)
    const next = this.#waiting.shift()
    if (next !== undefined) {
      waitingEverywhere.delete(this.#member.network, next)
      if (!this.#holds) this.#socket.resume()
      this.#begin(next)
    } else if (this.#lastWords !== null) {
      this.#socket.write(this.#lastWords.text)
      this.#close(null)
    }
  }

  #passOver(request: IncomingMessage, network: string | null): void {
    const { crowd, lingering } = this.#deps
    crowd.linger(this.#member)
    lingering.passOver(this.#socket, network, request, () => {
      if (this.#underWay === null && !this.#closing) crowd.wait(this.#member)
    })
  }

  #forgetWaiting(which: (waiting: Waiting) => boolean = () => true): void {
    for (const waiting of this.#waiting.filter(which)) waitingEverywhere.delete(this.#member.network, waiting)
    this.#waiting = this.#waiting.filter((waiting) => !which(waiting))
  }
}
