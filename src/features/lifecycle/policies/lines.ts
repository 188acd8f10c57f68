import { setImmediate as turn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Queries } from '../../../database/database.ts'
import { linesRememberedGroups } from '../../../kernel/limits/lifecycle.ts'
import { checkPage } from '../../../kernel/limits/upkeep.ts'
import { currentLabels } from '../deletion/eligibility.ts'
import { type Group, newestVersions, nthNewest, type Position } from './versions.queries.ts'
import type { KeepRules } from './vocabulary.ts'

/**
 * Some of the versions of a group, of which the newest `keepLast` are kept: all of them, those that bear the label of a
 * channel, or those that bear none of any channel.
 */
export interface Circle {
  readonly of: 'all' | 'channel' | 'no-channel'
  /** Of the channel; empty otherwise. */
  readonly label: string
  readonly keepLast: number
}

/** Every circle that a policy draws within a group. */
export const circlesOf = ({ grouping, keepLast, channels }: KeepRules): Circle[] => {
  const drawn: Circle[] = channels.map((channel) => ({ of: 'channel', ...channel }))
  // Without channels, everything is outside of them: then all is counted, which needs no look at labels.
  const rest = grouping === 'package-channel' && channels.length > 0 ? 'no-channel' : 'all'
  return [...drawn, { of: rest, label: '', keepLast }]
}

/** The circles that a version with these labels is in. It is kept as long as one of them keeps it. */
export const circlesAround = (rules: KeepRules, labels: readonly string[]): Circle[] => {
  const within = circlesOf(rules).filter(({ of, label }) => of !== 'channel' || labels.includes(label))
  const inChannel = within.some(({ of }) => of === 'channel')
  return within.filter(({ of }) => of !== 'no-channel' || !inChannel)
}

const keyOf = ({ of, label }: Circle): string => `${of} ${label}`

export const isOlder = (a: Position, b: Position): boolean =>
  a.published_at < b.published_at || (a.published_at === b.published_at && a.artifact_id < b.artifact_id)

/**
 * Where each circle of a group ends: the place of the oldest version that it keeps by count. What is older is beyond it;
 * null where it has fewer versions than it keeps, so that nothing is. Every version counts, whatever else keeps it.
 *
 * One for each look at one state of the catalog: it remembers the groups that it was asked about last.
 */
export class Lines {
  readonly #q: Queries
  readonly #repository: string
  readonly #rules: KeepRules
  readonly #groups = new LRUCache<string, Map<string, Position | null>>({ max: linesRememberedGroups })

  constructor(q: Queries, repository: string, rules: KeepRules) {
    this.#q = q
    this.#repository = repository
    this.#rules = rules
  }

  /** The lines of these circles, in their order. */
  async of(group: Group, circles: readonly Circle[]): Promise<(Position | null)[]> {
    const key = group === 'repository' ? group : JSON.stringify([group.group_key, group.name_key])
    const known = this.#groups.get(key) ?? new Map<string, Position | null>()
    this.#groups.set(key, known)
    const unknown = circles.filter((circle) => !known.has(keyOf(circle)))
    for (const circle of unknown) {
      if (circle.of !== 'all') continue
      const line = await nthNewest(this.#q, this.#repository, group, circle.keepLast)
      known.set(keyOf(circle), line ?? null)
    }
    const byLabel = unknown.filter(({ of }) => of !== 'all')
    await this.#count(group, byLabel, known)
    return circles.map((circle) => known.get(keyOf(circle)) ?? null)
  }

  /** Goes from the newest version to older ones until each circle has all that it keeps, some at a time. */
  async #count(group: Group, circles: readonly Circle[], known: Map<string, Position | null>): Promise<void> {
    const open = new Map(circles.map((circle) => [keyOf(circle), 0]))
    for (let before: Position | null = null; open.size > 0; ) {
      const page: Position[] = await newestVersions(this.#q, this.#repository, group, before, checkPage)
      const ids = page.map(({ artifact_id }) => artifact_id)
      const labels = await currentLabels(this.#q, this.#repository, ids)
      for (const place of page)
        for (const circle of circlesAround(this.#rules, labels.get(place.artifact_id) ?? [])) {
          const key = keyOf(circle)
          const counted = open.get(key)
          if (counted === undefined) continue
          open.set(key, counted + 1)
          if (counted + 1 < circle.keepLast) continue
          known.set(key, place)
          open.delete(key)
        }
      before = page.at(-1) ?? null
      // SQLite answers at once: without this nobody else would get a turn in between.
      await turn()
      if (page.length < checkPage) break
    }
    for (const key of open.keys()) known.set(key, null)
  }
}
