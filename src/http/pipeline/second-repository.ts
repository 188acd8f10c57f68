import type { SecondRepository } from '../../contract/operation.ts'
import type { Caller } from '../../kernel/caller.ts'
import { Failure } from '../../kernel/failure.ts'
import type { Gate } from './gate.ts'

/** Where a second repository may stand. */
interface Named {
  readonly query: object
  readonly headers: object
  /** Of JSON. */
  readonly body: unknown
}

/**
 * Whether the caller may on the second repository that a rule asks about: true where the request names one and the
 * caller does. Throws the 403 or, for a repository that the caller may not see, the 404, unless the rule wants that
 * told.
 */
export const maySecond = async (
  gate: Gate,
  caller: Caller | null,
  second: SecondRepository,
  named: Named,
): Promise<boolean> => {
  const text = textAt(second.at, named)
  if (text === null) return false
  const [repository = ''] = text.split('/', 1)
  try {
    await gate.authorizeAlso(caller, second, repository)
    return true
  } catch (error) {
    if (second.refusal === 'told' && isRefusal(error)) return false
    throw error
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof Failure && (error.code === 'permission_missing' || error.code === 'not_found')

const textAt = (at: string, { query, headers, body }: Named): string | null => {
  const [, section, name = ''] = /^\/(?:(query|headers)\/)?([^/]+)$/.exec(at) ?? []
  const among = section === 'query' ? query : section === 'headers' ? headers : body
  const value: unknown = typeof among === 'object' && among !== null ? Reflect.get(among, name) : undefined
  return typeof value === 'string' ? value : null
}
