import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import fc from 'fast-check'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { ImagePlace } from '../harness/image-policies.ts'
import { described, indexType, manifestOf, type Pushed } from '../harness/images.ts'
import { PolicyBench } from '../harness/policies.ts'

after(closeConnections)

/**
 * Random images under random policies, against a model that knows all of it and counts plainly. After some changes the
 * preview, the explanation of every manifest and a run have to be what the model says, and the tags that are left.
 */
const names = ['app', 'team/api']
const tags = ['1', '2', '3', 'beta-1', 'beta-2', 'v1', 'latest', `sha256-${'0'.repeat(64)}.sig`]

type Change =
  | { readonly kind: 'push'; readonly name: string; readonly tag: string | null }
  | { readonly kind: 'list' | 'refer'; readonly to: readonly number[]; readonly tag: string | null }
  | { readonly kind: 'tag'; readonly which: number; readonly tag: string }
  | { readonly kind: 'untag' | 'delete' | 'stage' | 'unstage'; readonly which: number }

const tag = fc.constantFrom(...tags)
const which = fc.nat(30)
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('push' as const),
      name: fc.constantFrom(...names),
      tag: fc.option(tag, { freq: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('list' as const, 'refer' as const),
      to: fc.array(which, { minLength: 1, maxLength: 3 }),
      tag: fc.option(tag, { freq: 2 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('tag' as const), which, tag }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('untag', 'untag', 'delete', 'stage', 'unstage'), which }),
  },
)
const few = fc.integer({ min: 1, max: 2 })
const policy = fc.record({
  grouping: fc.constantFrom('package-channel', 'package', 'repository'),
  keepLast: few,
  channels: fc.uniqueArray(fc.record({ label: fc.constantFrom('beta-*', 'latest'), keepLast: few }), {
    selector: ({ label }) => label,
  }),
  protectedLabels: fc.subarray(['3', 'beta-2*']),
  minAgeHours: fc.constantFrom(0, 0, 2),
})
type Rules = typeof policy extends fc.Arbitrary<infer T> ? T : never
const round = fc.record({ changes: fc.array(change, { minLength: 4, maxLength: 12 }), policy, immutable: fc.boolean() })

interface Manifest {
  readonly name: string
  readonly pushed: Pushed
  readonly lists: readonly string[]
  readonly subject: string | null
  readonly tags: Map<string, number>
  isStaged: boolean
}

const matches = (label: string, text: string): boolean =>
  label.endsWith('*') ? text.startsWith(label.slice(0, -1)) : text === label

class World {
  readonly #at: ImagePlace
  /** In the order in which they came. */
  #manifests: Manifest[] = []
  #immutable: readonly string[] = []
  #nonce = 0

  constructor(at: ImagePlace) {
    this.#at = at
  }

  get #now(): number {
    return this.#at.there.service.clock.now()
  }

  #chosen(number: number): Manifest | undefined {
    return this.#manifests[number % this.#manifests.length]
  }

  #under(name: string, named: string): Manifest | undefined {
    return this.#manifests.find((each) => each.name === name && each.tags.has(named))
  }

  #isImmutable(name: string, named: string): boolean {
    return this.#under(name, named) !== undefined && this.#immutable.some((each) => matches(each, named))
  }

  #moved(to: Manifest, named: string): void {
    this.#under(to.name, named)?.tags.delete(named)
    to.tags.set(named, this.#now)
  }

  async #push(name: string, named: string | null, fields: { manifests?: object[]; subject?: object }): Promise<void> {
    if (named !== null && this.#isImmutable(name, named)) return
    const pushed = manifestOf({ manifests: [], ...fields, annotations: { nonce: String(++this.#nonce) } }, indexType)
    await this.#at.put(name, pushed, named ?? pushed.digest)
    const digests = (fields.manifests ?? []).map((each) => String(Reflect.get(each, 'digest')))
    const subject = fields.subject === undefined ? null : String(Reflect.get(fields.subject, 'digest'))
    const manifest = { name, pushed, lists: digests, subject, tags: new Map<string, number>(), isStaged: false }
    this.#manifests.push(manifest)
    if (named !== null) this.#moved(manifest, named)
  }

  async make(what: Change): Promise<void> {
    if (what.kind === 'push') return this.#push(what.name, what.tag, {})
    if ('to' in what) {
      const first = this.#chosen(what.to[0] ?? 0)
      if (first === undefined) return
      const chosen = what.to.flatMap((number) => this.#chosen(number) ?? [])
      const here = [...new Set(chosen)].filter(({ name }) => name === first.name)
      const all = here.map(({ pushed }) => described(pushed.text, indexType))
      const [subject] = all
      return this.#push(
        first.name,
        what.tag,
        what.kind === 'list' || subject === undefined ? { manifests: all } : { subject },
      )
    }
    const manifest = this.#chosen(what.which)
    if (manifest === undefined) return
    const { name, pushed } = manifest
    if (what.kind === 'tag') {
      if (manifest.tags.has(what.tag) || this.#isImmutable(name, what.tag)) return
      await this.#at.tag(name, pushed, what.tag)
      return this.#moved(manifest, what.tag)
    }
    if (what.kind === 'stage' || what.kind === 'unstage') {
      await this.#at.stage(name, pushed.digest, 'tested', what.kind === 'stage')
      manifest.isStaged = what.kind === 'stage'
    } else if (what.kind === 'untag') {
      const [named] = manifest.tags.keys()
      if (named === undefined || this.#isImmutable(name, named)) return
      await this.#at.remove(name, named)
      manifest.tags.delete(named)
    } else {
      if (manifest.isStaged || [...manifest.tags.keys()].some((named) => this.#isImmutable(name, named))) return
      await this.#at.remove(name, pushed.digest)
      this.#manifests = this.#manifests.filter((each) => each !== manifest)
    }
  }

  /** When the newest tag came to a manifest that counts; null of others. */
  #countsFrom({ name, pushed, subject, tags: own }: Manifest): number | null {
    const here = this.#manifests.filter((each) => each.name === name)
    if (here.some(({ lists }) => lists.includes(pushed.digest))) return null
    if (subject !== null && here.some((each) => each.pushed.digest === subject)) return null
    const times = [...own].flatMap(([named, at]) => (named.startsWith('sha256-') ? [] : [at]))
    return times.length === 0 ? null : Math.max(...times)
  }

  #kept(rules: Rules): Set<Manifest> {
    const counted = this.#manifests.flatMap((each) => {
      const at = this.#countsFrom(each)
      return at === null ? [] : [{ each, at }]
    })
    const kept = new Set<Manifest>()
    for (const group of Map.groupBy(counted, ({ each }) =>
      rules.grouping === 'repository' ? '' : each.name,
    ).values()) {
      const newest = group.toSorted((a, b) => b.at - a.at).map(({ each }) => each)
      const bears = (label: string) => (each: Manifest) => [...each.tags.keys()].some((named) => matches(label, named))
      for (const { label, keepLast } of rules.channels)
        for (const each of newest.filter(bears(label)).slice(0, keepLast)) kept.add(each)
      const inNone = newest.filter((each) => !rules.channels.some(({ label }) => bears(label)(each)))
      const rest = rules.grouping === 'package-channel' ? inNone : newest
      for (const each of rest.slice(0, rules.keepLast)) kept.add(each)
    }
    return kept
  }

  #goes(rules: Rules): Manifest[] {
    const kept = this.#kept(rules)
    const held = [...rules.protectedLabels, ...this.#immutable]
    return this.#manifests.filter((each) => {
      const at = this.#countsFrom(each)
      if (at === null || this.#now - at <= rules.minAgeHours * hour || kept.has(each) || each.isStaged) return false
      return ![...each.tags.keys()].some((named) => held.some((label) => matches(label, named)))
    })
  }

  async immutable(...patterns: string[]): Promise<void> {
    await this.#at.immutable(...patterns)
    this.#immutable = patterns
  }

  async compare(rules: Rules): Promise<void> {
    const going = this.#goes(rules)
    const calledSo = (all: readonly Manifest[]): string[] =>
      all.map(({ name, pushed }) => `${name}@${pushed.digest}`).sort()
    const told = JSON.stringify(
      { rules, all: this.#manifests.map((each) => ({ ...each, tags: [...each.tags] })) },
      null,
      1,
    )
    const shown = (await this.#at.preview()).map(({ image, digest }) => `${image}@${digest}`).sort()
    assert.deepEqual(shown, calledSo(going), told)
    for (const each of this.#manifests) {
      const { decision, reasons } = await this.#at.explain(each.name, each.pushed.digest)
      const counts = this.#countsFrom(each) !== null
      assert.equal(decision, counts ? (going.includes(each) ? 'deletable' : 'kept') : 'not_covered', told)
      const byCount = reasons.some(({ code }: { code: string }) => code.startsWith('newest_'))
      assert.equal(byCount, this.#kept(rules).has(each), told)
    }
    const run = await this.#at.run()
    assert.deepEqual(
      run.map(({ image, digest, outcome }) => `${image}@${digest} ${outcome}`).sort(),
      shown.map((each) => `${each} deleted`),
    )
    for (const { tags: own } of going) own.clear()
    for (const name of names) {
      const left = this.#manifests.flatMap((each) => (each.name === name ? [...each.tags.keys()] : []))
      assert.deepEqual(await this.#at.tags(name), left.sort())
    }
    assert.deepEqual(await this.#at.run(), [], 'nothing is left to go')
  }

  save(rules: Rules): Promise<unknown> {
    return this.#at.there.save({ ...rules, enabled: true })
  }
}

forEachEngine((engine) => {
  it('keeps and deletes the images that the model says, shows it before and explains it', async () => {
    const bench = await PolicyBench.open(engine)
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(round, { minLength: 2, maxLength: 4 }), async (rounds) => {
          const world = new World(await ImagePlace.open(bench))
          for (const { changes, policy: rules, immutable } of rounds) {
            for (const each of changes) await world.make(each)
            await world.immutable(...(immutable ? ['v*', '2'] : []))
            await world.save(rules)
            await world.compare(rules)
          }
          await bench.inspection.inOrder()
        }),
        { numRuns: engine.name === 'sqlite' ? 15 : 6, seed: 4_711, endOnFailure: true },
      )
    } finally {
      await bench.close()
    }
  })
})
