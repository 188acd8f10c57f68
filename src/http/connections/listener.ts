import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  connectionIdleMs,
  connectionMomentMs,
  connectionsMax,
  connectionsPerNetworkMax,
  connectionsReserved,
  headersTimeoutMs,
  keepAliveMs,
  requestHeadBytesMax,
} from '../../kernel/limits/http.ts'
import { realTimers } from '../../kernel/timers.ts'
import { expectsContinue } from '../body/request-body.ts'
import type { HttpDeps } from '../given.ts'
import { networkBehind, peerNetwork } from '../pipeline/client-address.ts'
import { Connection, type ConnectionDeps } from './connection.ts'
import { Crowd } from './crowd.ts'
import type { Lingering } from './lingering.ts'
import { malformedAnswer, tunnelAnswer } from './malformed.ts'
import { Proxied } from './proxied.ts'

type Serve = (request: IncomingMessage, response: ServerResponse) => void

const options = {
  maxHeaderSize: requestHeadBytesMax,
  keepAliveTimeout: keepAliveMs,
  headersTimeout: headersTimeoutMs,
  requestTimeout: 0,
  // Ours to refuse, with a problem answer.
  requireHostHeader: false,
  noDelay: true,
}

const bounds = {
  most: connectionsMax,
  perNetwork: connectionsPerNetworkMax,
  reserved: connectionsReserved,
  momentMs: connectionMomentMs,
}

/** Listens for connections; each of them hands on its requests, one after another. */
export class Listener {
  readonly #connections = new WeakMap<Duplex, Connection>()
  readonly #deps: Pick<HttpDeps, 'trustedProxies'>
  readonly #shared: Omit<ConnectionDeps, 'serve'>

  constructor(deps: Pick<HttpDeps, 'trustedProxies' | 'reportBug'>, lingering: Lingering) {
    this.#deps = deps
    this.#shared = {
      crowd: new Crowd(bounds, realTimers),
      lingering,
      proxied: new Proxied(connectionsPerNetworkMax),
      networkBehind: (request) => networkBehind(request, deps.trustedProxies),
      timers: realTimers,
      report: (error) => deps.reportBug(error, { asked: 'the end of a request' }),
    }
  }

  /** Node's server, whose requests are handed to `serve` at their turn. */
  serverFor(serve: Serve): Server {
    const arrived: Serve = (request, response) => this.#connections.get(request.socket)?.arrive(request, response)
    const server = createServer(options, arrived)
    server.maxConnections = connectionsMax
    server.timeout = connectionIdleMs
    server.on('connection', (socket) => {
      if (this.#connections.has(socket)) return
      const network = peerNetwork(socket, this.#deps.trustedProxies)
      this.#connections.set(socket, new Connection(socket, network, { ...this.#shared, serve }))
    })
    server.on('timeout', (socket) => this.#connections.get(socket)?.quiet())
    server.on('checkContinue', (request: IncomingMessage, response) => {
      expectsContinue(request)
      arrived(request, response)
    })
    // Node lets go of a connection that asks for a tunnel. It has it back, so that the answers before this one are not
    // stuck, and its end, its errors and the end of the server are heard.
    server.on('connect', ({ socket }: IncomingMessage) => {
      server.emit('connection', socket)
      this.#connections.get(socket)?.giveUp(tunnelAnswer())
    })
    // What else is expected is not promised: the request is served as if it were not (RFC 9110, section 10.1.1).
    server.on('checkExpectation', arrived)
    return server
  }

  /** Ends a connection on which something came that is no request. */
  refuse(socket: Duplex, error: Parameters<typeof malformedAnswer>[0]): void {
    this.#connections.get(socket)?.giveUp(malformedAnswer(error))
  }
}
