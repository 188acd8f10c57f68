import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import fc from 'fast-check'
import { cleanupGraceHoursDefault } from '../../src/kernel/limits/transfers.ts'
import { hour, minute } from '../../src/kernel/units.ts'
import { settleImages } from '../../src/protocols/oci/jobs.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine, type TestEngine } from '../harness/engines.ts'
import { wish } from '../harness/image-recipes.ts'
import { ImageWalk, type Place, type Way } from '../harness/image-walk.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'
import type { Bytes } from '../harness/modelled-images.ts'
import { startService, stillClock, type TestService } from '../harness/service.ts'

after(closeConnections)

/**
 * Random walks through what clients do with images, beside a model that counts everything anew after every step
 * (`modelled-images.ts`): what it says is there has to be there, byte by byte, under each of its digests, in lists,
 * among referrers and in what the repository counts; and nothing else.
 */
const walks = Number(process.env['SVC_TEST_ROUNDS'] ?? 3)
const seed = Number(process.env['SVC_TEST_SEED'] ?? 18)

const ways: readonly Way[] = ['whole', 'with the first request', 'streamed', 'in chunks']
const tags = ['latest', 'v1', 'v2']
const which = fc.nat(100)
const common = {
  place: which,
  which,
  algorithm: fc.constantFrom('sha256' as const, 'sha256' as const, 'sha512' as const),
}
const kind = <K extends string>(...kinds: K[]) => fc.constantFrom(...kinds)
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: kind('send'), way: fc.constantFrom(...ways), ...common }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('mount'), says: fc.boolean(), ...common }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: kind('push'),
      ...{ ...common, by: fc.constantFrom('tag' as const, 'tag' as const, 'sha256' as const, 'sha512' as const) },
      tags: fc.subarray(tags, { maxLength: 2 }),
      whole: fc.constantFrom(true, true, true, false),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind('untag'), tag: fc.constantFrom(...tags), ...common }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('delete manifest', 'delete blob'), ...common }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('leave', 'cancel', 'go on'), ...common }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: kind('time'), minutes: fc.constantFrom(1, 59, 61, 119, 121, 23 * 60, 25 * 60) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('restart') }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const pick = <T>(from: readonly T[], at: number): T => {
  const found = from[at % from.length]
  assert.ok(found !== undefined)
  return found
}

/** One step of clients; what is done to which place, for it to be looked at. */
const act = async (walk: ImageWalk, each: Exclude<Step, { kind: 'time' | 'restart' }>): Promise<Place> => {
  const place = pick(walk.places, each.place)
  const content: Bytes = pick([...walk.contents, ...walk.recipes], each.which)
  const recipe = pick(walk.recipes, each.which)
  if (each.kind === 'send') await walk.send(place, content, each.algorithm, each.way)
  // Nothing has salt: it is in other walks as well.
  else if (each.kind === 'mount')
    await walk.mount(place, content, each.algorithm, each.says || content.bytes.length === 0)
  else if (each.kind === 'push') await walk.push(place, recipe, each.by, each.tags, each.whole)
  else if (each.kind === 'untag') await walk.untag(place, each.tag)
  else if (each.kind === 'delete manifest') await walk.deleteManifest(place, recipe, each.algorithm)
  else if (each.kind === 'delete blob') await walk.deleteBlob(place, content, each.algorithm)
  else if (each.kind === 'go on') await walk.goOn(each.which)
  else await walk.breakOff(place, content, each.kind === 'cancel')
  return place
}

/** A service whose time stands still until it is moved, and whose upkeep runs when it is asked to. */
class Bench {
  readonly service: TestService
  readonly #inspection: Inspection

  private constructor(service: TestService, inspection: Inspection) {
    this.service = service
    this.#inspection = inspection
  }

  static async open(engine: TestEngine): Promise<Bench> {
    const service = await startService(engine, { roles: { gateway: 'api', worker: false }, clock: stillClock() })
    return new Bench(service, await openInspection(service))
  }

  async upkeep(walk: ImageWalk): Promise<void> {
    const cleanupGraceMs = cleanupGraceHoursDefault * hour
    await settleImages({ ...this.#inspection, cleanupGraceMs, report: assert.fail })
    await this.#inspection.upkeep(cleanupGraceMs)
    walk.upkeepRan()
    await this.compareAll(walk)
  }

  /** Also of what lies in the store: what a repository holds, and of what none holds nothing. */
  async compareAll(walk: ImageWalk): Promise<void> {
    await walk.compareAll()
    const ours = new Set([...walk.contents.slice(1), ...walk.recipes].map(({ sha256 }) => sha256))
    const stored = (await this.#inspection.stored()).map((hex) => `sha256:${hex}`).filter((digest) => ours.has(digest))
    const held = [...walk.models].flatMap(({ blobs }) => [...blobs.keys()]).filter((digest) => ours.has(digest))
    assert.deepEqual(
      [...new Set(held)].filter((digest) => !stored.includes(digest)),
      [],
    )
  }

  /** When all time has passed, what is kept is there, and of all else nothing is left. */
  async end(walk: ImageWalk): Promise<void> {
    for (let round = 0; round < 2; round++) {
      this.service.clock.advance(25 * hour)
      await this.upkeep(walk)
    }
    for (const place of walk.places) await walk.comparesUnknown(place)
    const held = new Set([...walk.models].flatMap(({ blobs }) => [...blobs.keys()]))
    const ours = [...walk.contents.slice(1), ...walk.recipes].map(({ sha256 }) => sha256)
    const stored = new Set((await this.#inspection.stored()).map((hex) => `sha256:${hex}`))
    for (const digest of ours) assert.equal(stored.has(digest), held.has(digest), digest)
    assert.deepEqual(await this.#inspection.staged(), [])
    await this.#inspection.inOrder()
  }

  async close(): Promise<void> {
    await this.#inspection.close()
    await this.service.stop()
  }
}

forEachEngine((engine) => {
  it('holds what the model says, byte by byte, and after its time nothing else', async () => {
    const bench = await Bench.open(engine)
    let begun = 0
    const walked = async (wishes: Parameters<typeof ImageWalk.begin>[2], steps: readonly Step[]): Promise<void> => {
      const walk = await ImageWalk.begin(bench.service, `walk-${++begun}`, wishes, cleanupGraceHoursDefault)
      for (const each of steps)
        if (each.kind === 'restart') await bench.service.restart()
        else if (each.kind === 'time') {
          bench.service.clock.advance(each.minutes * minute)
          await bench.upkeep(walk)
        } else {
          const place = await act(walk, each)
          await walk.compareBlobs(place)
          await walk.compareImage(place)
        }
      await bench.end(walk)
    }
    try {
      const wishes = fc.array(wish, { minLength: 4, maxLength: 7, size: 'max' })
      const steps = fc.array(step, { minLength: 12, maxLength: 30, size: 'max' })
      await fc.assert(fc.asyncProperty(wishes, steps, walked), { numRuns: walks, seed, endOnFailure: true })
    } finally {
      await bench.close()
    }
  })
})
