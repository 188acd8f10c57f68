import { LRUCache } from 'lru-cache'
import type { Queries } from '../../../database/database.ts'
import type { RepositoryAction } from '../../../kernel/actions.ts'
import { isRepositoryAction } from '../../../kernel/actions.ts'
import type { RepositoryPermissions } from '../../../kernel/caller.ts'
import { bindingsRememberedCharacters } from '../../../kernel/limits/identity.ts'
import { identityOf, type RepositoryIdentity } from '../../../kernel/repository-identity.ts'
import { incarnationsOf } from '../../catalog/repositories/repositories.ts'

/** What may be done in one repository, as it stands in policies, keys and ceilings. */
export interface Binding {
  readonly resource: { readonly kind: 'repository'; readonly id: string }
  readonly actions: RepositoryAction[]
}

/** The same as it is stored: bound to one repository, whoever gets its id later. */
export interface StoredBinding extends Binding {
  readonly incarnation: number
}

/** Binds to the repositories that have these ids now; an id that none has means the next one that gets it. */
export const bound = async (q: Queries, bindings: readonly Binding[]): Promise<StoredBinding[]> => {
  const incarnationOf = await incarnationsOf(q, [...new Set(bindings.map(({ resource }) => resource.id))])
  return bindings.map(({ resource, actions }) => ({ resource, actions, incarnation: incarnationOf(resource.id) }))
}

/** Bindings of each text as they are shown: without those to repositories that are gone. */
export const shownBindings = async (q: Queries, texts: readonly string[]): Promise<Binding[][]> => {
  const stored = texts.map(parseBindings)
  const incarnationOf = await incarnationsOf(q, [...new Set(stored.flat().map(({ resource }) => resource.id))])
  return stored.map((bindings) =>
    bindings
      .filter(({ resource, incarnation }) => incarnation === incarnationOf(resource.id))
      .map(({ resource, actions }) => ({ resource, actions })),
  )
}

/** Bindings as a set of actions per repository; several bindings of one repository add up. */
export const permissionsOf = (bindings: readonly StoredBinding[]): RepositoryPermissions => {
  const permissions = new Map<RepositoryIdentity, Set<RepositoryAction>>()
  for (const { resource, actions, incarnation } of bindings) {
    const repository = identityOf(resource.id, incarnation)
    const held = permissions.get(repository) ?? new Set<RepositoryAction>()
    for (const action of actions) held.add(action)
    permissions.set(repository, held)
  }
  return permissions
}

/** What both allow: a key may do what its account's policy and its own bindings say, per repository and action. */
const intersection = (a: RepositoryPermissions, b: RepositoryPermissions): RepositoryPermissions => {
  const both = new Map<RepositoryIdentity, ReadonlySet<RepositoryAction>>()
  for (const [repository, actions] of a) {
    const common = actions.intersection(b.get(repository) ?? new Set())
    if (common.size > 0) both.set(repository, common)
  }
  return both
}

/** True when everything in `inner` is also in `outer`. */
export const within = (inner: RepositoryPermissions, outer: RepositoryPermissions): boolean =>
  [...inner].every(([repository, actions]) => actions.isSubsetOf(outer.get(repository) ?? new Set()))

/**
 * Bindings as they were stored. What is not of their form is a damaged row; those of a time before ids were given again
 * have no number and mean the first.
 */
export const parseBindings = (json: string): StoredBinding[] => {
  const parsed: unknown = JSON.parse(json)
  if (!Array.isArray(parsed)) throw new Error('stored bindings are no list')
  return parsed.map((each: unknown) => {
    if (typeof each !== 'object' || each === null || !('resource' in each) || !('actions' in each))
      throw new Error('a stored binding has another form')
    const { resource, actions } = each
    if (typeof resource !== 'object' || resource === null || !('id' in resource) || !Array.isArray(actions))
      throw new Error('a stored binding has another form')
    const incarnation = 'incarnation' in each ? Number(each.incarnation) : 1
    const resourceOf = { kind: 'repository', id: String(resource.id) } as const
    return { resource: resourceOf, actions: actions.filter(isRepositoryAction), incarnation }
  })
}

/** What came of pairs of texts, which are read from their rows each time. At best it forgets. */
const remembered = new LRUCache<string, RepositoryPermissions>({
  maxSize: bindingsRememberedCharacters,
  sizeCalculation: (_permissions, pair) => pair.length,
})

/**
 * What a key may do at this moment: what its account's policy and its own bindings both allow, as both are stored. The
 * largest ones take more than half a millisecond to read, which each request of their keys would pay.
 */
export const effectivePermissions = (policy: string, bindings: string): RepositoryPermissions => {
  const pair = `${policy}\0${bindings}`
  const known = remembered.get(pair)
  if (known !== undefined) return known
  const made = intersection(permissionsOf(parseBindings(policy)), permissionsOf(parseBindings(bindings)))
  remembered.set(pair, made)
  return made
}
