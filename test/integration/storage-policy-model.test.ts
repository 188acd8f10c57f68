import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import fc from 'fast-check'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { walks } from '../harness/depth.ts'
import { forEachEngine } from '../harness/engines.ts'
import { PolicyBench, type PolicyPlace } from '../harness/policies.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

/**
 * Random catalogs under random policies, against a model that knows all of it and counts plainly. Between the steps the
 * preview, the explanation of every file and a run have to be what the model says. Within a step two runs meet others
 * who publish, delete and refer; the journal then says in which order, and no line of it may break a rule at its place.
 */
const labels = ['beta', 'stable', 'golden']

type Change =
  | { readonly kind: 'version'; readonly name: number; readonly labels: readonly string[]; readonly hours: number }
  | { readonly kind: 'file' }
  | { readonly kind: 'refer' | 'unrefer' | 'remove'; readonly which: number }

const version = fc.record({
  kind: fc.constant('version' as const),
  name: fc.nat(2),
  labels: fc.subarray(labels),
  hours: fc.constantFrom(0, 0, 1, 2),
})
const which = fc.nat(40)
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 5, arbitrary: version },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('file' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom('refer', 'unrefer', 'unrefer', 'remove', 'remove'), which }),
  },
)
const few = fc.integer({ min: 1, max: 3 })
const policy = fc.record({
  grouping: fc.constantFrom('package-channel', 'package', 'repository'),
  keepLast: few,
  channels: fc.uniqueArray(fc.record({ label: fc.constantFrom('beta', 'stable'), keepLast: few }), {
    selector: ({ label }) => label,
  }),
  protectedLabels: fc.subarray(['golden']),
  minAgeHours: fc.constantFrom(0, 0, 1, 3),
})
type Rules = typeof policy extends fc.Arbitrary<infer T> ? T : never
const round = fc.record({ policy, meanwhile: fc.array(change, { minLength: 1, maxLength: 4 }) })

interface File {
  readonly name: string | null
  readonly labels: readonly string[]
  readonly publishedAt: string
  registered: boolean
  published: boolean
  references: number
}

class World {
  readonly #there: PolicyPlace
  /** Of another key than the one that deletes by hand. */
  readonly #runner: string
  readonly #runnerActor: string
  readonly #made = new Map<string, { name: string | null; labels: readonly string[] }>()
  readonly #files = new Map<string, File>()
  #sequence = 0
  #versions = 0

  private constructor(there: PolicyPlace, runner: { secret: string; accountId: string }) {
    this.#there = there
    this.#runner = runner.secret
    this.#runnerActor = `service-account:${runner.accountId}`
  }

  static async open(bench: PolicyBench): Promise<World> {
    const there = await bench.fresh()
    return new World(there, await there.another())
  }

  async make(what: Change): Promise<void> {
    const there = this.#there
    const ids = [...this.#files.keys()]
    if (what.kind === 'version') {
      there.service.clock.advance(what.hours * hour)
      this.#versions += 1
      const name = `p${what.name}`
      const id = await there.version(name, `1.0.${this.#versions}`, what.labels)
      this.#made.set(id, { name, labels: what.labels })
    } else if (what.kind === 'file') {
      this.#made.set(await there.file(['beta']), { name: null, labels: ['beta'] })
    } else if (ids.length > 0) {
      const id = ids[what.which % ids.length] ?? ''
      const path = `/artifacts/${id}`
      const json = { key: 'kept' }
      if (what.kind === 'remove') await there.ask({ method: 'DELETE', path, json: { expectedAnnotationRevision: 0 } })
      else await there.ask({ method: what.kind === 'refer' ? 'POST' : 'DELETE', path: `${path}/references`, json })
    }
  }

  /** Reads the journal on; every deletion by a policy must have been right at its place. */
  async follow(rules: Rules | null): Promise<void> {
    const { service, repository } = this.#there
    const lines = await inDatabase(service, (q) =>
      q
        .selectFrom('journal')
        .leftJoin('artifacts', 'artifacts.id', 'journal.artifact_id')
        .leftJoin('deleted_artifacts', 'deleted_artifacts.id', 'journal.artifact_id')
        .select(['sequence', 'action', 'artifact_id', 'actor', 'artifacts.published_at'])
        .select('deleted_artifacts.published_at as was_published_at')
        .where('journal.repository', '=', repository)
        .where('sequence', '>', this.#sequence)
        .orderBy('sequence')
        .execute(),
    )
    for (const line of lines) {
      this.#sequence = line.sequence
      const id = line.artifact_id
      const file = this.#files.get(id)
      if (line.action === 'artifact.publish') {
        const publishedAt = line.published_at ?? line.was_published_at ?? ''
        const made = this.#made.get(id) ?? assert.fail(`nobody made ${id}`)
        this.#files.set(id, { ...made, publishedAt, registered: false, published: true, references: 0 })
        continue
      }
      assert.ok(file !== undefined)
      if (line.action === 'package.register') file.registered = true
      else if (line.action === 'reference.add') file.references += 1
      else if (line.action === 'reference.remove') file.references -= 1
      else if (line.action === 'artifact.delete') {
        if (line.actor === this.#runnerActor)
          assert.ok(rules !== null && this.#goes(id, rules), `${id} should have stayed: ${this.#told(rules)}`)
        assert.equal(file.references, 0)
        file.published = false
      } else assert.fail(line.action)
    }
  }

  #told(rules: Rules | null): string {
    return JSON.stringify({ rules, files: [...this.#files] }, null, 1)
  }

  #newest(members: readonly string[], count: number): string[] {
    const key = (id: string): string => `${this.#files.get(id)?.publishedAt} ${id}`
    return members.toSorted((a, b) => (key(a) < key(b) ? 1 : -1)).slice(0, count)
  }

  /** What is kept by count, written down as the documents say it. */
  #counted(rules: Rules): Set<string> {
    const versions = [...this.#files].filter(([, { published, registered }]) => published && registered)
    const inGroups = Map.groupBy(versions, ([, { name }]) => (rules.grouping === 'repository' ? '' : name))
    const kept = new Set<string>()
    for (const members of inGroups.values()) {
      const bearing = (label: string) => members.filter(([, file]) => file.labels.includes(label)).map(([id]) => id)
      for (const { label, keepLast } of rules.channels)
        for (const id of this.#newest(bearing(label), keepLast)) kept.add(id)
      const outside = members
        .filter(([, file]) => !rules.channels.some(({ label }) => file.labels.includes(label)))
        .map(([id]) => id)
      const all = members.map(([id]) => id)
      for (const id of this.#newest(rules.grouping === 'package-channel' ? outside : all, rules.keepLast)) kept.add(id)
    }
    return kept
  }

  #goes(id: string, rules: Rules): boolean {
    const file = this.#files.get(id)
    if (file?.published !== true || !file.registered || file.references > 0) return false
    if (file.labels.some((label) => rules.protectedLabels.some((each) => each === label))) return false
    const age = this.#there.service.clock.now() - Date.parse(file.publishedAt)
    return age > rules.minAgeHours * hour && !this.#counted(rules).has(id)
  }

  /** With nobody else there: preview, explanations and a run are what the model says. */
  async compare(rules: Rules): Promise<void> {
    const there = this.#there
    const published = [...this.#files].filter(([, file]) => file.published)
    const going = published.map(([id]) => id).filter((id) => this.#goes(id, rules))
    const preview = await there.get('/storage/preview')
    const shown = preview.items.map((each: Told['json']) => each.id).sort()
    assert.deepEqual(shown, going.toSorted(), this.#told(rules))
    assert.equal(preview.hasMore, false)
    for (const [id, file] of published) {
      const { decision, blockers, deletableAt, reasons } = await there.get(`/artifacts/${id}/explain`)
      const expected = file.name === null ? 'not_covered' : going.includes(id) ? 'deletable' : 'kept'
      assert.equal(decision, expected, `${id}: ${this.#told(rules)}`)
      assert.equal(blockers.includes('reference'), file.references > 0)
      assert.ok(reasons.length > 0)
      if (expected === 'deletable') assert.ok(Date.parse(deletableAt) <= there.service.clock.now())
      const byCount = reasons.some(({ code }: { code: string }) => code.startsWith('newest_'))
      assert.equal(byCount, file.name !== null && this.#counted(rules).has(id), JSON.stringify(reasons))
    }
    const told = await there.run(this.#runner)
    assert.deepEqual(told, Object.fromEntries(shown.map((id: string) => [id, 'deleted'])))
    await this.follow(rules)
    assert.deepEqual(await there.run(this.#runner), {}, 'nothing is left to go')
    const listed = (await there.get('/artifacts?limit=100')).items.map(({ id }: { id: string }) => id)
    assert.deepEqual(listed, [...this.#files].flatMap(([id, file]) => (file.published ? [id] : [])).sort())
  }

  save(rules: Rules): Promise<unknown> {
    return this.#there.save({ ...rules, enabled: true })
  }

  /** Two runs beside others, who change what there is. */
  async meet(meanwhile: readonly Change[]): Promise<void> {
    const others = async (): Promise<void> => {
      for (const each of meanwhile) await this.make(each)
    }
    const [first, second] = await Promise.all([this.#there.run(this.#runner), this.#there.run(this.#runner), others()])
    const twice = Object.keys(first).filter((id) => first[id] === 'deleted' && second[id] === 'deleted')
    assert.deepEqual(twice, [])
  }
}

forEachEngine((engine) => {
  it('deletes what the model says, shows it before, explains it, and breaks no rule while others are at work', async () => {
    const bench = await PolicyBench.open(engine)
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(change, { minLength: 8, maxLength: 16 }),
          fc.array(round, { minLength: 2, maxLength: 3 }),
          async (catalog, rounds) => {
            const world = await World.open(bench)
            for (const each of catalog) {
              await world.make(each)
              await world.follow(null)
            }
            for (const { policy: rules, meanwhile } of rounds) {
              await world.save(rules)
              await world.meet(meanwhile)
              await world.follow(rules)
              await world.compare(rules)
            }
            await bench.inspection.inOrder()
          },
        ),
        walks(engine.name === 'sqlite' ? 10 : 4, 4_711),
      )
    } finally {
      await bench.close()
    }
  })
})
