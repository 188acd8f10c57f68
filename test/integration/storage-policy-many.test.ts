import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { parseVersion, versionKey } from '../../src/features/catalog/packages/version-order.ts'
import { newId } from '../../src/kernel/ids.ts'
import { cutoffsRememberedGroups } from '../../src/kernel/limits/lifecycle.ts'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { fillPackages } from '../harness/packages.ts'
import { PolicyBench, type PolicyPlace } from '../harness/policies.ts'
import { randomOf } from '../harness/random.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

/**
 * A catalog of more packages than a look remembers and more candidates than a run deletes, whose versions are of few
 * packages and of many by turns: what the preview shows is, one by one, what a plain count of everything says.
 */
const packages = cutoffsRememberedGroups + 300
const seed = process.env['SVC_TEST_SEED'] ?? 'many'

interface Version {
  readonly id: string
  readonly name: string
  readonly publishedAt: string
  readonly labels: readonly string[]
  readonly referred: boolean
}

interface Rules {
  readonly grouping: 'package-channel' | 'package' | 'repository'
  readonly keepLast: number
  readonly channels: readonly { readonly label: string; readonly keepLast: number }[]
  readonly protectedLabels: readonly string[]
  readonly minAgeHours: number
}

const policies: readonly Rules[] = [
  { grouping: 'package', keepLast: 1, channels: [], protectedLabels: [], minAgeHours: 0 },
  { grouping: 'package', keepLast: 1, channels: [], protectedLabels: ['golden'], minAgeHours: 90 },
  {
    grouping: 'package',
    keepLast: 3,
    channels: [{ label: 'beta', keepLast: 1 }],
    protectedLabels: [],
    minAgeHours: 50,
  },
  {
    grouping: 'package-channel',
    keepLast: 1,
    channels: [
      { label: 'beta', keepLast: 1 },
      { label: 'golden', keepLast: 2 },
    ],
    protectedLabels: [],
    minAgeHours: 80,
  },
  { grouping: 'package-channel', keepLast: 4, channels: [], protectedLabels: [], minAgeHours: 0 },
  { grouping: 'repository', keepLast: 900, channels: [], protectedLabels: ['beta'], minAgeHours: 0 },
  // Few go, and they are far from each other: what was remembered of the first is forgotten before they are judged.
  { grouping: 'package', keepLast: 1, channels: [], protectedLabels: [], minAgeHours: 99 },
  { grouping: 'package', keepLast: 12, channels: [], protectedLabels: [], minAgeHours: 0 },
]

const byText =
  <T>(textOf: (item: T) => string) =>
  (a: T, b: T): number =>
    textOf(a) < textOf(b) ? -1 : textOf(a) > textOf(b) ? 1 : 0
const place = ({ publishedAt, id }: Version): string => `${publishedAt} ${id}`

/** Counts everything, as the page about policies says it. */
const beyond = (versions: readonly Version[], rules: Rules, now: number): string[] => {
  const { grouping, keepLast, channels, protectedLabels, minAgeHours } = rules
  const before = new Date(now - minAgeHours * hour).toISOString()
  const groups = Map.groupBy(versions, ({ name }) => (grouping === 'repository' ? '' : name))
  const going: Version[] = []
  for (const group of groups.values()) {
    const newest = group.toSorted(byText(place)).reverse()
    const kept = new Set<Version>()
    const keep = (ring: Version[], count: number): void => {
      for (const one of ring.slice(0, count)) kept.add(one)
    }
    for (const { label, keepLast: count } of channels)
      keep(
        newest.filter(({ labels }) => labels.includes(label)),
        count,
      )
    const inNone = ({ labels }: Version): boolean => channels.every(({ label }) => !labels.includes(label))
    keep(grouping === 'package-channel' && channels.length > 0 ? newest.filter(inNone) : newest, keepLast)
    for (const one of newest.reverse())
      if (
        !kept.has(one) &&
        !one.referred &&
        one.publishedAt < before &&
        !one.labels.some((label) => protectedLabels.includes(label))
      )
        going.push(one)
  }
  return going.map(({ id }) => id)
}

forEachEngine((engine) => {
  let bench: PolicyBench
  let there: PolicyPlace
  let versions: Version[]
  before(async () => {
    bench = await PolicyBench.open(engine)
    there = await bench.fresh()
    versions = await fill(there)
  })
  after(() => bench.close())

  /** Most packages have two versions, some have many, and ages, labels and references lie anywhere. */
  const fill = async (into: PolicyPlace): Promise<Version[]> => {
    const random = randomOf(seed)
    const now = into.service.clock.now()
    const like = await into.version('like', '0.0.0')
    const made: (Version & { readonly version: string })[] = []
    for (let n = 0; n < packages; n++) {
      const many = random() < 0.04 ? 10 + Math.floor(random() * 60) : 1 + Math.floor(random() * 2.5)
      for (let count = 0; count < many; count++) {
        const atMs = now - Math.floor(random() * 100 * hour) - 1
        made.push({
          id: newId(atMs),
          name: `p${String(n).padStart(4, '0')}`,
          version: `1.0.${count}`,
          publishedAt: new Date(atMs).toISOString(),
          labels: ['beta', 'golden'].filter(() => random() < 0.2),
          referred: random() < 0.3,
        })
      }
    }
    const keyOf = (text: string): string => versionKey(parseVersion(text) ?? assert.fail(text))
    const rows = made.map(({ id, name, version, publishedAt: published_at }) => ({
      ...{ id, name, version, version_key: keyOf(version), prerelease: 0 as const, published_at },
    }))
    await fillPackages(into.service, like, rows)
    await inDatabase(into.service, async (q) => {
      for (const { id, labels, referred } of made) {
        const row = { artifact_id: id, revision: 1, labels: JSON.stringify(labels), metadata: '{}', collections: '[]' }
        if (labels.length > 0) await q.insertInto('annotations').values(row).execute()
        const reference = { artifact_id: id, owner: 'somebody', key: 'kept', created_at: new Date(now).toISOString() }
        if (referred) await q.insertInto('artifact_references').values(reference).execute()
      }
    })
    const { items } = await into.get('/packages?name=like')
    const [first] = items
    assert.equal(first.artifactId, like)
    const { publishedAt } = await into.get('/packages/resolve?name=like')
    return [{ id: like, name: 'like', publishedAt, labels: [], referred: false }, ...made]
  }

  /** In the order in which they are looked at: package by package, the oldest first. */
  const inLookingOrder = (ids: readonly string[], { grouping }: Rules): string[] => {
    const known = new Map(versions.map((one) => [one.id, one]))
    const of = (id: string): Version => known.get(id) ?? assert.fail(id)
    return ids.toSorted(byText((id) => (grouping === 'repository' ? place(of(id)) : `${of(id).name} ${place(of(id))}`)))
  }

  for (const [number, rules] of policies.entries())
    it(`shows what a count of everything says (policy ${number + 1}, ${rules.grouping}, seed ${seed})`, async () => {
      await there.save({ ...rules, enabled: false })
      const going = inLookingOrder(beyond(versions, rules, there.service.clock.now()), rules)
      const { items, hasMore } = await there.get('/storage/preview')
      const shown: string[] = items.map(({ id }: { id: string }) => id)
      assert.equal(hasMore, going.length > 100, `${going.length} go`)
      if (rules.grouping === 'repository') assert.ok(shown.every((id) => going.includes(id)) && shown.length === 100)
      else assert.deepEqual(shown, going.slice(0, 100))
    })

  it('runs delete all of it, a hundred at a time, and then nothing', async () => {
    const rules = policies[1] ?? assert.fail()
    await there.save({ ...rules, enabled: true })
    const going = beyond(versions, rules, there.service.clock.now())
    const deleted: string[] = []
    for (let told = await there.run(); Object.keys(told).length > 0; told = await there.run()) {
      assert.ok(Object.values(told).every((outcome) => outcome === 'deleted'))
      deleted.push(...Object.keys(told))
    }
    assert.deepEqual(deleted.sort(), going.sort())
  })
})
