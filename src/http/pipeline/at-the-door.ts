import type { FastifyRequest } from 'fastify'
import { refuseCodings } from '../body/transfer-codings.ts'
import type { HttpDeps } from '../given.ts'
import { clientFacts, comesFromProxy } from './client-address.ts'
import { exchangeOf } from './exchange.ts'
import { refuseWrongHost } from './hosts.ts'
import { checkOrigin } from './origins.ts'
import { refuseWrongTarget } from './target.ts'

type Deps = Pick<HttpDeps, 'onLoopback' | 'baseUrl' | 'trustedProxies' | 'corsOrigins'>

/**
 * What is asked of every request before anybody looks at what it wants: codings, target, host and origin. Throws what
 * it is refused with. True for the question of a browser whether a page of another origin may ask, which is answered
 * without a route.
 */
export const admitAtTheDoor = (engines: Deps, request: FastifyRequest): boolean => {
  const { origin } = request.headers
  const { onLoopback, baseUrl, trustedProxies } = engines
  refuseCodings(request.raw)
  refuseWrongTarget(request.raw)
  refuseWrongHost(request.raw, { onLoopback, baseUrl, fromProxy: comesFromProxy(request.raw, trustedProxies) })
  if (origin === undefined) return false
  const { ownOrigin } = clientFacts(request.raw, trustedProxies, baseUrl)
  const cors = checkOrigin(origin, ownOrigin, engines.corsOrigins)
  if (cors !== null) Object.assign(exchangeOf(request).headers, cors)
  return request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
}
