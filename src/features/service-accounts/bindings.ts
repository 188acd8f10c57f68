import type { RepositoryAction } from '../../kernel/actions.ts'
import { isRepositoryAction } from '../../kernel/actions.ts'
import type { RepositoryPermissions } from '../../kernel/caller.ts'
import { bindingsRememberedCharacters } from '../../kernel/limits.ts'

/** What may be done in one repository, as it stands in policies, keys and ceilings. */
export interface Binding {
  readonly resource: { readonly kind: 'repository'; readonly id: string }
  readonly actions: RepositoryAction[]
}

/** Bindings as a set of actions per repository; several bindings of one repository add up. */
export const permissionsOf = (bindings: readonly Binding[]): RepositoryPermissions => {
  const permissions = new Map<string, Set<RepositoryAction>>()
  for (const { resource, actions } of bindings) {
    const held = permissions.get(resource.id) ?? new Set<RepositoryAction>()
    for (const action of actions) held.add(action)
    permissions.set(resource.id, held)
  }
  return permissions
}

/** What both allow: a key may do what its account's policy and its own bindings say, per repository and action. */
const intersection = (a: RepositoryPermissions, b: RepositoryPermissions): RepositoryPermissions => {
  const both = new Map<string, ReadonlySet<RepositoryAction>>()
  for (const [repository, actions] of a) {
    const common = actions.intersection(b.get(repository) ?? new Set())
    if (common.size > 0) both.set(repository, common)
  }
  return both
}

/** True when everything in `inner` is also in `outer`. */
export const within = (inner: RepositoryPermissions, outer: RepositoryPermissions): boolean =>
  [...inner].every(([repository, actions]) => actions.isSubsetOf(outer.get(repository) ?? new Set()))

/** Bindings as they were stored. What is not of their form is a damaged row. */
export const parseBindings = (json: string): Binding[] => {
  const parsed: unknown = JSON.parse(json)
  if (!Array.isArray(parsed)) throw new Error('stored bindings are no list')
  return parsed.map((each: unknown) => {
    if (typeof each !== 'object' || each === null || !('resource' in each) || !('actions' in each))
      throw new Error('a stored binding has another form')
    const { resource, actions } = each
    if (typeof resource !== 'object' || resource === null || !('id' in resource) || !Array.isArray(actions))
      throw new Error('a stored binding has another form')
    return { resource: { kind: 'repository', id: String(resource.id) }, actions: actions.filter(isRepositoryAction) }
  })
}

/** What came of pairs of texts, which are read from their rows each time. At best it forgets. */
const remembered = new Map<string, RepositoryPermissions>()
let rememberedCharacters = 0

/**
 * What a key may do at this moment: what its account's policy and its own bindings both allow, as both are stored. The
 * largest ones take more than half a millisecond to read, which each request of their keys would pay.
 */
export const effectivePermissions = (policy: string, bindings: string): RepositoryPermissions => {
  const pair = `${policy}\0${bindings}`
  const known = remembered.get(pair)
  if (known !== undefined) return known
  const made = intersection(permissionsOf(parseBindings(policy)), permissionsOf(parseBindings(bindings)))
  rememberedCharacters += pair.length
  if (rememberedCharacters > bindingsRememberedCharacters) {
    remembered.clear()
    rememberedCharacters = pair.length
  }
  remembered.set(pair, made)
  return made
}
