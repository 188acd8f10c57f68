import { setImmediate as nextRound } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Queries } from '../../../database/database.ts'
import { cutoffsRememberedGroups } from '../../../kernel/limits/lifecycle.ts'
import { checkPage } from '../../../kernel/limits/upkeep.ts'
import { currentLabels } from '../deletion/eligibility.ts'
import { type Group, newestVersions, nthNewest, type Position } from './versions.queries.ts'
import type { KeepRules } from './vocabulary.ts'

/**
 * Some of the versions of a group, of which the newest `keepLast` are kept: all of them, those that bear the label of a
 * channel, or those that bear none of any channel.
 */
export interface KeepScope {
  readonly of: 'all' | 'channel' | 'no-channel'
  /** Of the channel; empty otherwise. */
  readonly label: string
  readonly keepLast: number
}

/** Every scope of a policy within a group. */
export const scopesOf = ({ grouping, keepLast, channels }: KeepRules): KeepScope[] => {
  const drawn: KeepScope[] = channels.map((channel) => ({ of: 'channel', ...channel }))
  // Without channels, everything is outside of them: then all is counted, which needs no look at labels.
  const rest = grouping === 'package-channel' && channels.length > 0 ? 'no-channel' : 'all'
  return [...drawn, { of: rest, label: '', keepLast }]
}

/** The scopes that a version with these labels is in. It is kept as long as one of them keeps it. */
export const scopesAround = (rules: KeepRules, labels: readonly string[]): KeepScope[] => {
  const within = scopesOf(rules).filter(({ of, label }) => of !== 'channel' || labels.includes(label))
  const inChannel = within.some(({ of }) => of === 'channel')
  return within.filter(({ of }) => of !== 'no-channel' || !inChannel)
}

const keyOf = ({ of, label }: KeepScope): string => `${of} ${label}`

export const isOlder = (a: Position, b: Position): boolean =>
  a.published_at < b.published_at || (a.published_at === b.published_at && a.artifact_id < b.artifact_id)

/**
 * Where each scope of a group ends: the position of the oldest version that it keeps by count. What is older is beyond
 * it; null where it has fewer versions than it keeps, so that nothing is. Every version counts, whatever else keeps it.
 *
 * One for each look at one state of the catalog: it remembers the groups that it was asked about last.
 */
export class Cutoffs {
  readonly #q: Queries
  readonly #repository: string
  readonly #rules: KeepRules
  readonly #groups = new LRUCache<string, Map<string, Position | null>>({ max: cutoffsRememberedGroups })

  constructor(q: Queries, repository: string, rules: KeepRules) {
    this.#q = q
    this.#repository = repository
    this.#rules = rules
  }

  /** The cutoffs of these scopes, in their order. */
  async of(group: Group, scopes: readonly KeepScope[]): Promise<(Position | null)[]> {
    const key = group === 'repository' ? group : JSON.stringify([group.group_key, group.name_key])
    const known = this.#groups.get(key) ?? new Map<string, Position | null>()
    this.#groups.set(key, known)
    const unknown = scopes.filter((scope) => !known.has(keyOf(scope)))
    for (const scope of unknown) {
      if (scope.of !== 'all') continue
      const cutoff = await nthNewest(this.#q, this.#repository, group, scope.keepLast)
      known.set(keyOf(scope), cutoff ?? null)
    }
    const byLabel = unknown.filter(({ of }) => of !== 'all')
    await this.#count(group, byLabel, known)
    return scopes.map((scope) => known.get(keyOf(scope)) ?? null)
  }

  /** Goes from the newest version to older ones until each scope has all that it keeps, some at a time. */
  async #count(group: Group, scopes: readonly KeepScope[], known: Map<string, Position | null>): Promise<void> {
    const open = new Map(scopes.map((scope) => [keyOf(scope), 0]))
    for (let before: Position | null = null; open.size > 0; ) {
      const page: Position[] = await newestVersions(this.#q, this.#repository, group, before, checkPage)
      const ids = page.map(({ artifact_id }) => artifact_id)
      const labels = await currentLabels(this.#q, this.#repository, ids)
      for (const position of page)
        for (const scope of scopesAround(this.#rules, labels.get(position.artifact_id) ?? [])) {
          const key = keyOf(scope)
          const counted = open.get(key)
          if (counted === undefined) continue
          open.set(key, counted + 1)
          if (counted + 1 < scope.keepLast) continue
          known.set(key, position)
          open.delete(key)
        }
      before = page.at(-1) ?? null
      // SQLite answers at once: without this nobody else would get a turn in between.
      await nextRound()
      if (page.length < checkPage) break
    }
    for (const key of open.keys()) known.set(key, null)
  }
}
