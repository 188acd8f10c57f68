import { pathOf } from '../pipeline/target.ts'
import { withPlainPath } from './plain-path.ts'

/**
 * The path of the address that clients know the service by: `/svc` of `https://host/svc`, and nothing where it has
 * none.
 */
export const basePathOf = (baseUrl: string | null): string =>
  baseUrl === null ? '' : withPlainPath(new URL(baseUrl).pathname).replace(/\/$/, '')

/**
 * The target as the routes know it. The base path is taken off where it stands, as whole segments; a target without it
 * stays what it is: those on the machine itself leave it out, and proxies that take it off.
 */
export const withoutBasePath = (target: string, basePath: string): string => {
  if (basePath === '') return target
  const asked = pathOf(target)
  if (!asked.startsWith(basePath)) return target
  const rest = asked.slice(basePath.length)
  if (rest !== '' && !/^[/?]/.test(rest)) return target
  return target.slice(0, target.length - asked.length) + (rest.startsWith('/') ? rest : `/${rest}`)
}
