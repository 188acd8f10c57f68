import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { hour } from '../../../kernel/units.ts'
import { beyondCutoffs, lookAt } from './beyond.ts'
import { type Counted, isOlder, type Position } from './counted.ts'
import type { KeepRules } from './vocabulary.ts'

/** A thing of a group, as the model knows it. */
interface Thing extends Position {
  readonly group: string
  readonly labels: readonly string[]
}

const byAge = (a: Position, b: Position): number => (isOlder(a, b) ? -1 : isOlder(b, a) ? 1 : 0)

/** Things that are held in memory, as an index would have them. Shows groups in pages of the size that is asked for. */
const countedIn = (things: readonly Thing[]): Counted<string> => {
  const of = (group: string | null): Thing[] => things.filter((each) => group === null || each.group === group)
  return {
    keyOf: (group) => group,
    groupsAfter: async (after, limit) => {
      const looked = things
        .map(({ group }) => group)
        .filter((group) => after === null || group > after)
        .sort()
        .slice(0, limit)
      return [...Map.groupBy(looked, (group) => group)].map(([group, all]) => ({ group, things: all.length }))
    },
    nthNewest: async (group, n) => of(group).toSorted(byAge).reverse()[n - 1],
    newest: async (group, before, limit) =>
      of(group)
        .filter((each) => before === null || isOlder(each, before))
        .toSorted(byAge)
        .reverse()
        .slice(0, limit),
    oldest: async (group, { after, before }, limit) =>
      of(group)
        .filter((each) => isOlder(each, before) && (after === null || isOlder(after, each)))
        .toSorted(byAge)
        .slice(0, limit),
    borne: async (ids, labels) =>
      new Map(
        things.flatMap((each) =>
          ids.includes(each.id) ? [[each.id, each.labels.filter((label) => labels.includes(label))]] : [],
        ),
      ),
  }
}

const now = Date.parse('2026-06-01T00:00:00.000Z')
const labels = ['beta', 'stable']
const thing = fc.record({
  group: fc.constantFrom('a', 'b', 'c'),
  hoursAgo: fc.nat(6),
  labels: fc.subarray(labels),
})
const things = fc.array(thing, { maxLength: 40 }).map((all) =>
  all.map(({ group, hoursAgo, labels: borne }, n): Thing => {
    const at = new Date(now - hoursAgo * hour).toISOString()
    return { group, labels: borne, at, id: String(n).padStart(3, '0') }
  }),
)
const few = fc.integer({ min: 1, max: 4 })
const rules: fc.Arbitrary<KeepRules> = fc.record({
  grouping: fc.constantFrom('package-channel', 'package', 'repository'),
  keepLast: few,
  channels: fc.uniqueArray(fc.record({ label: fc.constantFrom(...labels), keepLast: few }), {
    selector: ({ label }) => label,
  }),
  protectedLabels: fc.constant([]),
  minAgeHours: fc.nat(4),
})

/** What goes, written down as the page about policies says it: everything is counted. */
const goesByTheBook = (
  all: readonly Thing[],
  { grouping, keepLast, channels, minAgeHours }: KeepRules,
): Set<string> => {
  const kept = new Set<string>()
  const keepNewest = (some: readonly Thing[], count: number): void => {
    for (const { id } of some.toSorted(byAge).reverse().slice(0, count)) kept.add(id)
  }
  for (const group of Map.groupBy(all, (each) => (grouping === 'repository' ? '' : each.group)).values()) {
    for (const { label, keepLast: count } of channels)
      keepNewest(
        group.filter((each) => each.labels.includes(label)),
        count,
      )
    const inNone = group.filter((each) => !channels.some(({ label }) => each.labels.includes(label)))
    keepNewest(grouping === 'package-channel' ? inNone : group, keepLast)
  }
  const oldEnough = all.filter(({ at }) => now - Date.parse(at) > minAgeHours * hour)
  return new Set(oldEnough.map(({ id }) => id).filter((id) => !kept.has(id)))
}

describe('what is beyond the counts of a policy', () => {
  it('is what a plain count of everything says, each once, the oldest of each group first', async () => {
    await fc.assert(
      fc.asyncProperty(things, rules, async (all, policy) => {
        const look = lookAt(countedIn(all), policy, now)
        const found = (await Array.fromAsync(beyondCutoffs(look))).flat()
        assert.equal(new Set(found).size, found.length)
        const goes: string[] = []
        for (const id of found) {
          const each = all.find((one) => one.id === id) ?? assert.fail(id)
          if ((await look.cutoffs.keeping(each.group, each, each.labels)).length === 0) goes.push(id)
        }
        const expected = all
          .filter(({ id }) => goesByTheBook(all, policy).has(id))
          .toSorted(
            (a, b) =>
              (policy.grouping === 'repository' ? 0 : Number(a.group > b.group) - Number(a.group < b.group)) ||
              byAge(a, b),
          )
        assert.deepEqual(
          goes,
          expected.map(({ id }) => id),
        )
      }),
      { numRuns: 2_000 },
    )
  })
})
