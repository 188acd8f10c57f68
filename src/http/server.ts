import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import Fastify, { type FastifyInstance } from 'fastify'
import { reads } from '../contract/operation.ts'
import { Failure } from '../kernel/failure.ts'
import { connectionsMax, drainMs, headersTimeoutMs, keepAliveMs, requestHeadBytesMax } from '../kernel/limits.ts'
import { clientFacts } from './client-address.ts'
import { exchangeOf, nextRequestId } from './exchange.ts'
import { checkOrigin, preflightHeaders } from './origins.ts'
import type { HttpParts } from './parts.ts'
import { renderProblem } from './problem.ts'
import { createReplies } from './replies.ts'
import { expectsContinue } from './request-body.ts'
import { bindOperation, leaveBodies, readJsonBodies, refuseOtherMethods } from './routes.ts'

export interface HttpServer {
  /** Resolves with the address once it answers, such as `http://127.0.0.1:8080`. */
  listen(host: string, port: number): Promise<string>
  /** From now on every operation but health answers 503 `draining`; connections close after their answer. */
  drain(): void
  /** Drains, waits for what is under way within the bound, cuts what is left and closes. */
  close(): Promise<void>
}

/** What is no HTTP at all gets a problem answer too. */
const malformed = (error: Error): string => {
  const tooLong = 'code' in error && error.code === 'HPE_HEADER_OVERFLOW'
  const detail = tooLong ? `The request head is longer than ${requestHeadBytesMax} bytes.` : 'This is not HTTP/1.1.'
  const { text, headers } = renderProblem(new Failure('invalid_request', detail), nextRequestId())
  const all = Object.entries({ ...headers, 'content-length': String(Buffer.byteLength(text)), connection: 'close' })
  return `HTTP/1.1 400 Bad Request\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`
}

/** The HTTP server of the service: routes made from operations, one pipeline for all of them. */
export const createHttpServer = async (parts: HttpParts): Promise<HttpServer> => {
  let draining = false
  let underWay = 0
  let whenIdle: (() => void) | null = null
  const isDraining = (): boolean => draining
  const replies = createReplies(parts, isDraining)

  const serve = (handler: (request: IncomingMessage, response: ServerResponse) => void): Server => {
    const options = {
      maxHeaderSize: requestHeadBytesMax,
      keepAliveTimeout: keepAliveMs,
      headersTimeout: headersTimeoutMs,
      requestTimeout: 0,
      noDelay: true,
    }
    const counted: typeof handler = (request, response) => {
      underWay += 1
      response.once('close', () => {
        underWay -= 1
        if (underWay === 0) whenIdle?.()
      })
      handler(request, response)
    }
    const server = createServer(options, counted)
    server.maxConnections = connectionsMax
    server.on('checkContinue', (request: IncomingMessage, response) => {
      expectsContinue(request)
      counted(request, response)
    })
    return server
  }

  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: requestHeadBytesMax, querystringParser: () => ({}) },
    serverFactory: serve,
    frameworkErrors: (error, request, reply) => replies.problem(request, reply, error),
    clientErrorHandler: (error, socket) => {
      if (socket.writable) socket.end(malformed(error))
    },
  })
  app.decorateRequest('exchange', null)
  app.setErrorHandler((error, request, reply) => replies.problem(request, reply, error))
  app.setNotFoundHandler((request, reply) => {
    const path = JSON.stringify(request.url.split('?', 1)[0]?.slice(0, 200))
    replies.problem(request, reply, new Failure('not_found', `There is no ${path} here.`))
  })

  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers
    if (origin === undefined) return
    const { baseUrl } = clientFacts(request.raw, parts.trustedProxies, parts.baseUrl)
    const cors = checkOrigin(origin, baseUrl, parts.corsOrigins)
    if (cors !== null) Object.assign(exchangeOf(request).headers, cors)
    if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined)
      replies.text(request, reply, 204, { ...preflightHeaders }, '')
  })

  const known = parts.operations.map((bound) => bound.operation)
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
    refuseOtherMethods(
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
      if (underWay > 0) {
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
