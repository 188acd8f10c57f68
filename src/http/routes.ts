import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { BoundOperation } from '../contract/handler.ts'
import { isOnReaders, reads, shownPath } from '../contract/operation.ts'
import { Failure } from '../kernel/failure.ts'
import { heldBodiesBytesMax, jsonBodyDeadlineMs } from '../kernel/limits/http.ts'
import { type ArrivalDeps, admitArrival, refuseWhereBusy, requestReader } from './arrival.ts'
import { HeldBodies } from './body/held-bodies.ts'
import { continueBody } from './body/request-body.ts'
import type { HttpDeps } from './given.ts'
import { type Exchange, exchangeOf } from './pipeline/exchange.ts'
import { type Checked, compileOperation, perform } from './pipeline/pipeline.ts'
import { parseJson } from './pipeline/thrown.ts'
import type { Replies } from './replies/replies.ts'
import { type RefuseMethod, refuseOtherMethods } from './routing/methods.ts'
import { routePath } from './routing/route-path.ts'

type Deps = ArrivalDeps &
  Pick<HttpDeps, 'uploads' | 'metrics' | 'uploadDeadlineSeconds'> & { readonly heldBodies: HeldBodies }

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
  const given = { ...deps, heldBodies: new HeldBodies(heldBodiesBytesMax) }
  const served = deps.operations.filter(({ operation }) => !deps.readOnly || isOnReaders(operation))
  const bind = (routes: FastifyInstance, isJson: boolean): void => {
    for (const bound of served)
      if ((bound.operation.body.kind === 'json') === isJson) bindOperation(routes, bound, given, replies, isDraining)
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
  deps: Deps,
  replies: Replies,
  isDraining: () => boolean,
): void => {
  const { operation } = bound
  const read = requestReader(operation)
  let checked: Checked | null = null
  routes.route({
    method: reads(operation) ? ['GET', 'HEAD'] : operation.method,
    url: routePath(operation.path),
    config: { template: shownPath(operation) },
    ...(operation.body.kind === 'json' ? { bodyLimit: operation.body.maxBytes } : {}),
    onRequest: async (sent, reply) => {
      refuseWhereBusy(sent, operation, isDraining())
      await admitArrival(sent, operation, read(sent), deps)
      if (operation.body.kind === 'json') awaitJson(sent, reply, replies)
    },
    handler: async (sent, reply) => {
      const exchange = exchangeOf(sent)
      const { arrival, bodyHere, scope } = exchange
      bodyHere()
      if (arrival === null) throw new Error(`${operation.id}: reached its handler unadmitted`)
      // At the first request: to compile all of them takes a good part of the time that a start takes.
      checked ??= compileOperation(operation)
      const answer = await perform(bound, checked, arrival, sent.raw, reply.raw, {
        gate: deps.gate,
        body: sent.body,
        deadlineSeconds: deps.uploadDeadlineSeconds,
        metrics: countedIn(exchange, deps.metrics),
        uploads: deps.uploads,
        heldBodies: deps.heldBodies,
        scope,
      })
      await replies.answer(sent, reply, answer)
    },
  })
}

/** A JSON body has to come within its time, from now on. */
const awaitJson = (request: FastifyRequest, reply: FastifyReply, replies: Replies): void => {
  const exchange = exchangeOf(request)
  continueBody(request.raw, reply.raw)
  const timer = setTimeout(() => replies.problem(request, reply, bodyTooSlow()), jsonBodyDeadlineMs)
  exchange.bodyHere = exchange.scope.own(() => clearTimeout(timer))
}

const bodyTooSlow = (): Failure =>
  new Failure('upload_deadline', `The body did not arrive within ${jsonBodyDeadlineMs / 1000} seconds.`, {
    headers: { connection: 'close' },
  })

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
