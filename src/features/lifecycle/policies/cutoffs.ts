import { setImmediate as nextRound } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { cutoffsRememberedGroups } from '../../../kernel/limits/lifecycle.ts'
import { checkPage } from '../../../kernel/limits/upkeep.ts'
import { type Counted, isOlder, type Position } from './counted.ts'
import type { KeepRules } from './vocabulary.ts'

/**
 * Some of the things of a group, of which the newest `keepLast` are kept: all of them, those that bear the label of a
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

/** The scopes that a thing with these labels is in. It is kept as long as one of them keeps it. */
const scopesAround = (rules: KeepRules, labels: readonly string[]): KeepScope[] => {
  const within = scopesOf(rules).filter(({ of, label }) => of !== 'channel' || labels.includes(label))
  const inChannel = within.some(({ of }) => of === 'channel')
  return within.filter(({ of }) => of !== 'no-channel' || !inChannel)
}

const keyOf = ({ of, label }: KeepScope): string => `${of} ${label}`

/**
 * Where each scope of a group ends: the position of the oldest version that it keeps by count. What is older is beyond
 * it; null where it has fewer than it keeps, so that nothing is. Everything counts, whatever else keeps it.
 *
 * One for each look at one state of the catalog: it remembers the groups that it was asked about last.
 */
export class Cutoffs<Group> {
  readonly #counted: Counted<Group>
  readonly #rules: KeepRules
  readonly #groups = new LRUCache<string, Map<string, Position | null>>({ max: cutoffsRememberedGroups })

  constructor(counted: Counted<Group>, rules: KeepRules) {
    this.#counted = counted
    this.#rules = rules
  }

  /** The scopes that keep a thing of a group with these labels by count. */
  async keeping(group: Group, position: Position, labels: readonly string[]): Promise<KeepScope[]> {
    const scopes = scopesAround(this.#rules, labels)
    const ends = await this.of(this.#rules.grouping === 'repository' ? null : group, scopes)
    return scopes.filter((_, at) => {
      const cutoff = ends[at] ?? null
      return cutoff === null || !isOlder(position, cutoff)
    })
  }

  /** The cutoffs of these scopes, in their order; those of the repository where the group is null. */
  async of(group: Group | null, scopes: readonly KeepScope[]): Promise<(Position | null)[]> {
    const key = group === null ? '' : this.#counted.keyOf(group)
    const known = this.#groups.get(key) ?? new Map<string, Position | null>()
    this.#groups.set(key, known)
    const unknown = scopes.filter((scope) => !known.has(keyOf(scope)))
    for (const scope of unknown) {
      if (scope.of !== 'all') continue
      const cutoff = await this.#counted.nthNewest(group, scope.keepLast)
      known.set(keyOf(scope), cutoff ?? null)
    }
    const byLabel = unknown.filter(({ of }) => of !== 'all')
    await this.#count(group, byLabel, known)
    return scopes.map((scope) => known.get(keyOf(scope)) ?? null)
  }

  /** Goes from the newest to older ones until each scope has all that it keeps, some at a time. */
  async #count(group: Group | null, scopes: readonly KeepScope[], known: Map<string, Position | null>): Promise<void> {
    const open = new Map(scopes.map((scope) => [keyOf(scope), 0]))
    const channels = this.#rules.channels.map(({ label }) => label)
    for (let before: Position | null = null; open.size > 0; ) {
      const page: readonly Position[] = await this.#counted.newest(group, before, checkPage)
      const ids = page.map(({ id }) => id)
      const labels = await this.#counted.borne(ids, channels)
      for (const position of page)
        for (const scope of scopesAround(this.#rules, labels.get(position.id) ?? [])) {
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
