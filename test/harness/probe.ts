import assert from 'node:assert/strict'
import { type Operation, requiredActions } from '../../src/contract/operation.ts'
import type { Ask, Told } from './client.ts'

/**
 * A request that does nothing, whatever the operation: its query is no UTF-8, and input is looked at only after access
 * was decided. 400 means that the caller may; 401, 403 and 404 that it may not.
 */
export const probeOf = (
  operation: Pick<Operation, 'method' | 'path'>,
  parameters: Readonly<Record<string, string>> = {},
): Ask & { method: string } => ({
  method: operation.method,
  path: `${operation.path.replaceAll(/\{([a-zA-Z]+)[*+]?\}/g, (_, name: string) => parameters[name] ?? 'nothing')}?no-such-parameter=%ff`,
})

/** True when the caller was let through to the input, false when it was refused by access. */
export const letThrough = (asked: Ask, told: Told): boolean => {
  if (told.status === 400) return true
  assert.ok([401, 403, 404].includes(told.status), `${asked.method} ${asked.path}: ${told.status} ${told.text}`)
  return false
}

/** What a rule about a repository asks for: all of its actions, and one of those of which one is enough. */
export const isEnough = ({ access }: Operation, held: ReadonlySet<string>): boolean => {
  const oneOf = access.kind === 'repository' ? (access.oneOf ?? []) : []
  const holdsOne = oneOf.length === 0 || oneOf.some((action) => held.has(action))
  return holdsOne && requiredActions(access).every((action) => held.has(action))
}
