import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { reads } from '../contract/operation.ts'
import { Failure } from '../kernel/failure.ts'
import {
  connectionIdleMs,
  connectionMomentMs,
  connectionsMax,
  connectionsPerNetworkMax,
  connectionsReserved,
  headersTimeoutMs,
  keepAliveMs,
  requestHeadBytesMax,
} from '../kernel/limits/http.ts'
import { drainMs } from '../kernel/limits/process.ts'
import { realTimers } from '../kernel/timers.ts'
import { expectsContinue } from './body/request-body.ts'
import { refuseCodings } from './body/transfer-codings.ts'
import { Connection, type ConnectionParts } from './connections/connection.ts'
import { Crowd } from './connections/crowd.ts'
import { Lingering } from './connections/lingering.ts'
import { malformedAnswer, tunnelAnswer } from './connections/malformed.ts'
import { Proxied } from './connections/proxied.ts'
import { Rounds } from './connections/rounds.ts'
import type { HttpParts } from './parts.ts'
import { clientFacts, comesFromProxy, networkBehind, peerNetwork } from './pipeline/client-address.ts'
import { exchangeOf } from './pipeline/exchange.ts'
import { refuseWrongHost } from './pipeline/hosts.ts'
import { checkOrigin, preflightHeaders } from './pipeline/origins.ts'
import { pathOf, refuseWrongTarget } from './pipeline/target.ts'
import { createReplies } from './replies/replies.ts'
import { bindOperation, leaveBodies, readJsonBodies } from './routes.ts'
import { type RefuseMethod, refuseOtherMethods } from './routing/methods.ts'
import { createTargets } from './routing/targets.ts'

export interface HttpServer {
  /** Resolves with the address once it answers, such as `http://127.0.0.1:8080`. */
  listen(host: string, port: number): Promise<string>
  /** From now on every operation but health answers 503 `draining`; connections close after their answer. */
  drain(): void
  /** Drains, waits for what is under way within the bound, cuts what is left and closes. */
  close(): Promise<void>
}

const noSuchPath = (url: string): Failure =>
  new Failure('not_found', `There is no ${JSON.stringify(url.split('?', 1)[0]?.slice(0, 200))} here.`)

/** The HTTP server of the service: routes made from operations, one pipeline for all of them. */
export const createHttpServer = async (parts: HttpParts): Promise<HttpServer> => {
  let draining = false
  let underWay = 0
  let whenIdle: (() => void) | null = null
  const lingering = new Lingering()
  const rounds = new Rounds()
  const crowd = new Crowd(
    {
      most: connectionsMax,
      perNetwork: connectionsPerNetworkMax,
      reserved: connectionsReserved,
      momentMs: connectionMomentMs,
    },
    realTimers,
  )
  const isDraining = (): boolean => draining
  const known = parts.operations.map((bound) => bound.operation)
  const targets = createTargets(
    parts.wires,
    known.map(({ path }) => path),
  )
  const connections = new WeakMap<Duplex, Connection>()
  const shared: Omit<ConnectionParts, 'serve'> = {
    crowd,
    lingering,
    proxied: new Proxied(connectionsPerNetworkMax),
    networkBehind: (request) => networkBehind(request, parts.trustedProxies),
    timers: realTimers,
    report: (error) => parts.reportBug(error, { asked: 'the end of a request' }),
  }
  /** Whoever is about to read a refusal is under way, too. */
  const isIdle = (): boolean => underWay === 0 && lingering.size === 0
  const lookWhetherIdle = (): void => {
    if (isIdle()) whenIdle?.()
  }
  lingering.onNone(lookWhetherIdle)
  const replies = createReplies(parts, isDraining)

  const serve = (handler: (request: IncomingMessage, response: ServerResponse) => void): Server => {
    const options = {
      maxHeaderSize: requestHeadBytesMax,
      keepAliveTimeout: keepAliveMs,
      headersTimeout: headersTimeoutMs,
      requestTimeout: 0,
      // Ours to refuse, with a problem answer.
      requireHostHeader: false,
      noDelay: true,
    }
    const counted: typeof handler = (request, response) => {
      underWay += 1
      const exchange = exchangeOf({ raw: request })
      exchange.wire = targets.wireOf(request.url ?? '')
      exchange.scope.own(() => {
        underWay -= 1
        lookWhetherIdle()
      })
      rounds.enter(exchange.network, exchange.scope, () => handler(request, response))
    }
    const arrived: typeof handler = (request, response) => connections.get(request.socket)?.arrive(request, response)
    const server = createServer(options, arrived)
    server.maxConnections = connectionsMax
    server.timeout = connectionIdleMs
    server.on('connection', (socket) => {
      if (connections.has(socket)) return
      const network = peerNetwork(socket, parts.trustedProxies)
      connections.set(socket, new Connection(socket, network, { ...shared, serve: counted }))
    })
    server.on('timeout', (socket) => connections.get(socket)?.quiet())
    server.on('checkContinue', (request: IncomingMessage, response) => {
      expectsContinue(request)
      arrived(request, response)
    })
    // Node lets go of a connection that asks for a tunnel. It has it back, so that the answers before this one are not stuck,
    // and its end, its errors and the end of the server are heard.
    server.on('connect', ({ socket }: IncomingMessage) => {
      server.emit('connection', socket)
      connections.get(socket)?.giveUp(tunnelAnswer())
    })
    // What else is expected is not promised: the request is served as if it were not (RFC 9110, section 10.1.1).
    server.on('checkExpectation', arrived)
    return server
  }

  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: requestHeadBytesMax, querystringParser: () => ({}) },
    serverFactory: serve,
    rewriteUrl: (request) => targets.fold(exchangeOf({ raw: request }).wire, request.url ?? ''),
    frameworkErrors: (error, request, reply) => replies.problem(request, reply, error),
    clientErrorHandler: (error, socket) => connections.get(socket)?.giveUp(malformedAnswer(error)),
  })
  app.setErrorHandler((error, request, reply) => replies.problem(request, reply, error))

  const admitOrigin = (request: FastifyRequest, origin: string): void => {
    const { ownOrigin } = clientFacts(request.raw, parts.trustedProxies, parts.baseUrl)
    const cors = checkOrigin(origin, ownOrigin, parts.corsOrigins)
    if (cors !== null) Object.assign(exchangeOf(request).headers, cors)
  }

  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers
    const { onLoopback, baseUrl, trustedProxies } = parts
    refuseCodings(request.raw)
    refuseWrongTarget(request.raw)
    refuseWrongHost(request.raw, { onLoopback, baseUrl, fromProxy: comesFromProxy(request.raw, trustedProxies) })
    if (origin !== undefined) {
      admitOrigin(request, origin)
      if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined)
        return replies.text(request, reply, 204, { ...preflightHeaders }, '')
    }
    // Here and not in a handler: what has no route is refused before its body is looked at.
    if (!request.is404) return
    const path = pathOf(request.url)
    refuseMethod(path)
    throw noSuchPath(path)
  })

  let refuseMethod: RefuseMethod = () => {}
  const served = parts.operations.filter((bound) => !parts.readOnly || reads(bound.operation))
  const bindAll = (scope: FastifyInstance, json: boolean): void => {
    for (const bound of served)
      if ((bound.operation.body.kind === 'json') === json) bindOperation(scope, bound, parts, replies, isDraining)
  }
  app.register((scope, _, done) => {
    readJsonBodies(scope)
    bindAll(scope, true)
    done()
  })
  app.register((scope, _, done) => {
    leaveBodies(scope)
    bindAll(scope, false)
    refuseMethod = refuseOtherMethods(
      scope,
      served.map((bound) => bound.operation),
      known,
    )
    done()
  })
  await app.ready()

  return {
    listen: (host, port) => app.listen({ host, port }),
    drain: () => {
      draining = true
    },
    async close() {
      draining = true
      if (!isIdle()) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, drainMs)
        whenIdle = resolve
        await promise
        clearTimeout(timer)
      }
      await app.close()
    },
  }
}
