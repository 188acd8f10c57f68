import type { FastifyRequest } from 'fastify'
import { neededPass, type Operation } from '../contract/operation.ts'
import { Failure } from '../kernel/failure.ts'
import { isSent } from './body/sent-files.ts'
import type { HttpDeps } from './given.ts'
import { spenderOf } from './pipeline/budget.ts'
import { clientFacts, isForwardedByStranger } from './pipeline/client-address.ts'
import { exchangeOf } from './pipeline/exchange.ts'
import { lowerCaseIds } from './pipeline/lower-case.ts'
import { type Asked, admit } from './pipeline/pipeline.ts'
import { restName } from './routing/route-path.ts'

export type ArrivalDeps = Pick<HttpDeps, 'budget' | 'forwardedByStranger' | 'gate' | 'trustedProxies' | 'baseUrl'>

/** Reads it as the operation declares it: the rest of a path under its name, ids in lower case. */
export const requestReader = ({ path, pathParameters }: Operation): ((request: FastifyRequest) => Asked) => {
  const rest = restName(path)
  const lower = lowerCaseIds(pathParameters)
  return (request) => {
    const params: Record<string, string> = {}
    for (const [name, value] of Object.entries(request.params ?? {})) {
      if (typeof value === 'string') params[name === '*' && rest !== null ? rest : name] = value
    }
    lower?.(params)
    const mark = request.url.indexOf('?')
    return { params, queryText: mark === -1 ? '' : request.url.slice(mark + 1) }
  }
}

/**
 * Refuses whom nothing can be done for now: 503 `draining`, and `busy` without room or share. Health is always told.
 */
export const refuseWhereBusy = (request: FastifyRequest, operation: Operation, isDraining: boolean): void => {
  if (isDraining && !operation.whileDraining)
    throw new Failure('draining', 'The service is shutting down; try again in a moment.', { retryAfterSeconds: 5 })
  const exchange = exchangeOf(request)
  exchange.operation = operation
  if (operation.whileDraining) return
  if (!exchange.hasRoom) throw noRoom()
  if (!exchange.hasShare) throw noShare()
}

/**
 * Finds out who asks, and whether they may, by the head of a request alone. From then on its exchange has an arrival,
 * and no answer leaves before what it tells is durable.
 */
export const admitArrival = async (
  request: FastifyRequest,
  operation: Operation,
  asked: Asked,
  deps: ArrivalDeps,
): Promise<void> => {
  const { params, queryText } = asked
  const exchange = exchangeOf(request)
  const { wire } = exchange
  const { authorization } = request.headers
  const sent = { authorization, queryText, wire }
  const facts = clientFacts(request.raw, deps.trustedProxies, deps.baseUrl)
  exchange.clientAddress = facts.clientAddress
  exchange.proxyFailed = facts.proxyFailed
  if (isForwardedByStranger(request.raw, deps.trustedProxies)) deps.forwardedByStranger(facts.clientAddress)
  // Health tells of the process, and has to while a disk does not answer.
  exchange.readsCatalog = !operation.whileDraining
  const caller = await admit(deps.gate, operation, { ...sent, again: false }, params, (found) => {
    exchange.caller = found
    if (!operation.whileDraining) deps.budget.spend(spenderOf(found, facts.clientAddress))
  })
  const admitAgain = () => admit(deps.gate, operation, { ...sent, again: true }, params, () => {})
  const admission = deps.gate.admission(caller, {
    credential: caller === null ? null : wire.credentialOf(authorization),
    wire: wire.name,
    passFor: neededPass(operation, params),
    rule: operation.access,
    parameters: params,
  })
  exchange.arrival = { caller, asked, requestId: exchange.requestId, ...facts, admission, admitAgain }
  exchange.receivesFile = isSent(operation.body)
}

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
