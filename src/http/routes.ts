import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { BoundOperation } from '../contract/handler.ts'
import { reads, shownPath } from '../contract/operation.ts'
import { Failure } from '../kernel/failure.ts'
import { jsonBodyDeadlineMs } from '../kernel/limits/http.ts'
import { continueBody } from './body/request-body.ts'
import { isSent } from './body/sent-files.ts'
import type { HttpDeps } from './given.ts'
import { spenderOf } from './pipeline/budget.ts'
import { clientFacts, isForwardedByStranger } from './pipeline/client-address.ts'
import { type Exchange, exchangeOf } from './pipeline/exchange.ts'
import type { Params } from './pipeline/gate.ts'
import { type LowerCase, lowerCaseIds } from './pipeline/lower-case.ts'
import { admit, type Checked, compileOperation, perform } from './pipeline/pipeline.ts'
import { parseJson } from './pipeline/thrown.ts'
import type { Replies } from './replies/replies.ts'
import { type RefuseMethod, refuseOtherMethods } from './routing/methods.ts'
import { restName, routePath } from './routing/route-path.ts'

const paramsOf = (request: FastifyRequest, rest: string | null, lower: LowerCase | null): Params => {
  const params: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.params ?? {})) {
    if (typeof value === 'string') params[name === '*' && rest !== null ? rest : name] = value
  }
  lower?.(params)
  return params
}

const queryTextOf = (request: FastifyRequest): string => {
  const mark = request.url.indexOf('?')
  return mark === -1 ? '' : request.url.slice(mark + 1)
}

type Deps = Pick<
  HttpDeps,
  | 'budget'
  | 'uploads'
  | 'forwardedByStranger'
  | 'gate'
  | 'metrics'
  | 'trustedProxies'
  | 'baseUrl'
  | 'uploadDeadlineSeconds'
>

/**
 * Makes the routes of all operations that are served, and of the methods that their paths do not have. Answers what
 * refuses methods that have no routes at all, from when the application is ready.
 */
export const bindOperations = (
  app: FastifyInstance,
  deps: HttpDeps,
  replies: Replies,
  isDraining: () => boolean,
): RefuseMethod => {
  let refuseMethod: RefuseMethod = () => {}
  const served = deps.operations.filter(({ operation }) => !deps.readOnly || reads(operation))
  const bind = (routes: FastifyInstance, isJson: boolean): void => {
    for (const bound of served)
      if ((bound.operation.body.kind === 'json') === isJson) bindOperation(routes, bound, deps, replies, isDraining)
  }
  app.register((routes, _, done) => {
    readJsonBodies(routes)
    bind(routes, true)
    done()
  })
  app.register((routes, _, done) => {
    leaveBodies(routes)
    bind(routes, false)
    refuseMethod = refuseOtherMethods(
      routes,
      served.map(({ operation }) => operation),
      deps.operations.map(({ operation }) => operation),
    )
    done()
  })
  return (url) => refuseMethod(url)
}

/** Makes the route of an operation: admit when the head is there, validate and perform when a JSON body is. */
const bindOperation = (
  routes: FastifyInstance,
  bound: BoundOperation,
  engines: Deps,
  replies: Replies,
  isDraining: () => boolean,
): void => {
  const { operation } = bound
  let checked: Checked | null = null
  const rest = restName(operation.path)
  const lower = lowerCaseIds(operation.pathParameters)
  routes.route({
    method: reads(operation) ? ['GET', 'HEAD'] : operation.method,
    url: routePath(operation.path),
    config: { template: shownPath(operation) },
    ...(operation.body.kind === 'json' ? { bodyLimit: operation.body.maxBytes } : {}),
    onRequest: async (request, reply) => {
      if (isDraining() && !operation.whileDraining)
        throw new Failure('draining', 'The service is shutting down; try again in a moment.', { retryAfterSeconds: 5 })
      const exchange = exchangeOf(request)
      exchange.operation = operation
      if (!exchange.hasRoom && !operation.whileDraining) throw noRoom()
      if (!exchange.hasShare && !operation.whileDraining) throw noShare()
      const { credentialOf } = exchange.wire
      const { authorization } = request.headers
      const sent = { authorization, queryText: queryTextOf(request), credentialOf }
      const facts = clientFacts(request.raw, engines.trustedProxies, engines.baseUrl)
      exchange.clientAddress = facts.clientAddress
      if (isForwardedByStranger(request.raw, engines.trustedProxies)) engines.forwardedByStranger(facts.clientAddress)
      const params = paramsOf(request, rest, lower)
      // Health tells of the process, and has to while a disk does not answer.
      exchange.readsCatalog = !operation.whileDraining
      const caller = await admit(engines.gate, operation, sent, params, (found) => {
        exchange.caller = found
        if (!operation.whileDraining) engines.budget.spend(spenderOf(found, facts.clientAddress))
      })
      const admitAgain = () => admit(engines.gate, operation, sent, params, () => {})
      const admission = engines.gate.admission(caller, {
        credential: caller === null ? null : credentialOf(authorization),
        rule: operation.access,
        parameters: params,
      })
      exchange.arrival = { caller, requestId: exchange.requestId, ...facts, admission, admitAgain }
      exchange.receivesFile = isSent(operation.body)
      if (operation.body.kind !== 'json') return
      continueBody(request.raw, reply.raw)
      const timer = setTimeout(() => replies.problem(request, reply, bodyTooSlow()), jsonBodyDeadlineMs)
      exchange.bodyHere = exchange.scope.own(() => clearTimeout(timer))
    },
    handler: async (request, reply) => {
      const exchange = exchangeOf(request)
      const { arrival, bodyHere, scope } = exchange
      bodyHere()
      if (arrival === null) throw new Error(`${operation.id}: reached its handler unadmitted`)
      // At the first request: to compile all of them takes a good part of the time that a start takes.
      checked ??= compileOperation(operation)
      const answer = await perform(bound, checked, arrival, request.raw, reply.raw, {
        gate: engines.gate,
        params: paramsOf(request, rest, lower),
        queryText: queryTextOf(request),
        body: request.body,
        deadlineSeconds: engines.uploadDeadlineSeconds,
        metrics: countedIn(exchange, engines.metrics),
        uploads: engines.uploads,
        scope,
      })
      await replies.answer(request, reply, answer)
    },
  })
}

/** What is received counts for its request as well. */
const countedIn = (exchange: Exchange, { begin }: Deps['metrics']): Pick<Deps['metrics'], 'begin'> => ({
  begin(direction) {
    const transfer = begin(direction)
    return {
      end: transfer.end,
      add(bytes) {
        exchange.received += bytes
        transfer.add(bytes)
      },
    }
  },
})

const noRoom = (): Failure =>
  new Failure(
    'busy',
    'Too many connections are open. Use one for several requests, and close those that are not needed.',
    {
      retryAfterSeconds: 5,
      headers: { connection: 'close' },
    },
  )

const noShare = (): Failure =>
  new Failure(
    'busy',
    'Too many requests of your network are under way. Wait for some of them, and send fewer at once.',
    {
      retryAfterSeconds: 5,
    },
  )

const bodyTooSlow = (): Failure =>
  new Failure('upload_deadline', `The body did not arrive within ${jsonBodyDeadlineMs / 1000} seconds.`, {
    headers: { connection: 'close' },
  })

/** JSON and nothing else: another media type is 415, a longer body 413. */
const readJsonBodies = (routes: FastifyInstance): void => {
  routes.removeAllContentTypeParsers()
  routes.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: unknown, body: Buffer) =>
    parseJson(body),
  )
}

/** Bodies that the handler streams, or that nobody wants, are left on the connection. */
const leaveBodies = (routes: FastifyInstance): void => {
  routes.removeAllContentTypeParsers()
  routes.addContentTypeParser('*', async () => undefined)
}
