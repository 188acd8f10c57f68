import type { FastifyInstance } from 'fastify'
import { type Operation, reads, shownPath } from '../../contract/operation.ts'
import { Failure } from '../../kernel/failure.ts'
import { routePath } from './route-path.ts'

const everyMethod = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const

/** Throws the 405 for a path that some operation has, for methods that have no routes at all. */
export type RefuseMethod = (url: string) => void

/** Answers 405 with `Allow` for each method that no operation serves on a path that some operation has. */
export const refuseOtherMethods = (
  routes: FastifyInstance,
  served: readonly Operation[],
  known: readonly Operation[],
): RefuseMethod => {
  const byPath = new Map<string, { template: string; allowed: Set<string> }>()
  for (const operation of known) {
    const path = routePath(operation.path)
    if (!byPath.has(path)) byPath.set(path, { template: shownPath(operation), allowed: new Set() })
  }
  for (const operation of served) {
    const allowed = byPath.get(routePath(operation.path))?.allowed
    allowed?.add(operation.method)
    if (reads(operation)) allowed?.add('HEAD')
  }
  const refusals: { url: string; form: RegExp; refusal: () => Failure }[] = []
  for (const [url, { template, allowed }] of byPath) {
    const allow = everyMethod.filter((method) => allowed.has(method)).join(', ')
    const detail = allow === '' ? 'A read gateway changes nothing; ask the writer.' : `Allowed here: ${allow}.`
    const refusal = (): Failure => new Failure('method_not_allowed', detail, { headers: { allow } })
    const refuse = async (): Promise<never> => {
      throw refusal()
    }
    const method = everyMethod.filter((name) => !allowed.has(name))
    routes.route({ method, url, config: { template }, onRequest: refuse, handler: refuse })
    refusals.push({ url, form: formOf(url), refusal })
  }
  // As routes do: a path of its own before one that has a parameter there.
  refusals.sort((one, other) => openness(one.url) - openness(other.url))
  return (url) => {
    const path = url.split('?', 1)[0] ?? ''
    const refused = refusals.find(({ form }) => form.test(path))
    if (refused !== undefined) throw refused.refusal()
  }
}

/** How much of a path it leaves open: what takes all of the rest leaves most. */
const openness = (routePath: string): number =>
  (routePath.match(/:/g)?.length ?? 0) + (routePath.includes('*') ? routePath.length : 0)

const formOf = (routePath: string): RegExp =>
  new RegExp(
    `^${routePath
      .replaceAll('.', '\\.')
      .replaceAll(/:[a-zA-Z]+/g, '[^/]+')
      .replace('*', '.*')}$`,
  )
