import Fastify from 'fastify'
import type { Wire } from '../contract/wire.ts'
import { Failure } from '../kernel/failure.ts'
import { requestHeadBytesMax } from '../kernel/limits/http.ts'
import { drainMs } from '../kernel/limits/process.ts'
import { Listener } from './connections/listener.ts'
import { Rounds } from './connections/rounds.ts'
import { UnderWay } from './connections/under-way.ts'
import type { HttpDeps } from './given.ts'
import { admitAtTheDoor } from './pipeline/at-the-door.ts'
import { exchangeOf } from './pipeline/exchange.ts'
import { preflightHeaders } from './pipeline/origins.ts'
import { pathOf } from './pipeline/target.ts'
import { factsOf } from './replies/facts.ts'
import { createReplies } from './replies/replies.ts'
import { bindOperations } from './routes.ts'
import { basePathOf, withoutBasePath } from './routing/base-path.ts'
import { withPlainPath } from './routing/plain-path.ts'
import { createTargets } from './routing/targets.ts'

export interface HttpServer {
  /** Resolves with the address once it answers, such as `http://127.0.0.1:8080`. */
  listen(host: string, port: number): Promise<string>
  /** From now on every operation but health answers 503 `draining`; connections close after their answer. */
  drain(): void
  /** Drains, waits for what is under way within the bound, cuts what is left and closes. */
  close(): Promise<void>
}

/** The HTTP server of the service: routes made from operations, one pipeline for all of them. */
export const createHttpServer = async (deps: HttpDeps): Promise<HttpServer> => {
  let draining = false
  const basePath = basePathOf(deps.baseUrl)
  const underWay = new UnderWay()
  const rounds = new Rounds()
  const listener = new Listener(deps, underWay.lingering)
  const replies = createReplies(deps, () => draining)
  const targets = createTargets(
    deps.wires,
    deps.operations.map(({ operation }) => operation.path),
  )
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: requestHeadBytesMax, querystringParser: () => ({}) },
    serverFactory: (handler) =>
      listener.serverFor((request, response) => {
        const exchange = exchangeOf({ raw: request })
        request.url = withoutBasePath(withPlainPath(request.url ?? ''), basePath)
        const facts = factsOf(request, response, exchange)
        exchange.scope.own(() => deps.requestOver(facts()))
        exchange.wire = targets.wireOf(request.url)
        underWay.enter(exchange.scope)
        rounds.enter(exchange.network, exchange.scope, () => handler(request, response))
      }),
    rewriteUrl: (request) => targets.fold(exchangeOf({ raw: request }).wire, request.url ?? ''),
    frameworkErrors: (error, request, reply) => replies.problem(request, reply, error),
    clientErrorHandler: (error, socket) => listener.refuse(socket, error),
  })
  app.setErrorHandler((error, request, reply) => replies.problem(request, reply, error))
  app.addHook('onRequest', async (request, reply) => {
    if (admitAtTheDoor(deps, request)) return replies.text(request, reply, 204, { ...preflightHeaders }, '')
    // Here and not in a handler: what has no route is refused before its body is looked at.
    if (!request.is404) return
    const path = pathOf(request.url)
    refuseMethod(path)
    throw noSuchPath(path, exchangeOf(request).wire)
  })
  const refuseMethod = bindOperations(app, deps, replies, () => draining)
  await app.ready()

  return {
    listen: (host, port) => app.listen({ host, port }),
    drain: () => {
      draining = true
    },
    async close() {
      draining = true
      await underWay.end(drainMs)
      await app.close()
    },
  }
}

const noSuchPath = (url: string, wire: Wire): Failure => {
  const path = url.split('?', 1)[0]?.slice(0, 200) ?? ''
  return new Failure('not_found', wire.missing?.(path) ?? `There is no ${JSON.stringify(path)} here.`)
}
