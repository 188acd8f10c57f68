import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { reclaim } from '../../src/content/reclaim/reclaim.ts'
import type { Database } from '../../src/database/database.ts'
import { runDuePolicies } from '../../src/features/lifecycle/policies/jobs.ts'
import { noFaults } from '../../src/kernel/fault-points.ts'
import { tagsPerPushMax, tagsPerRemoval } from '../../src/kernel/limits/oci.ts'
import { hour } from '../../src/kernel/units.ts'
import { keptOfSlices } from '../../src/main/slices.ts'
import { settleImages } from '../../src/protocols/oci/jobs.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { ImagePlace } from '../harness/image-policies.ts'
import { described, imageType, type Pushed } from '../harness/images.ts'
import { PolicyBench } from '../harness/policies.ts'

after(closeConnections)

const graceMs = 24 * hour

forEachEngine((engine) => {
  let bench: PolicyBench
  before(async () => {
    bench = await PolicyBench.open(engine)
  })
  after(() => bench.inspection.inOrder())
  after(() => bench.close())

  const opened: ImagePlace[] = []
  const open = async (): Promise<ImagePlace> => {
    const at = await ImagePlace.open(bench)
    opened.push(at)
    return at
  }
  // So that no test runs the policies of others.
  afterEach(async () => {
    for (const { there } of opened.splice(0)) await there.save({ enabled: false })
  })

  const policy = { enabled: true, grouping: 'package', keepLast: 1, intervalMinutes: 60 }
  const report = (_: string, error: unknown): never => assert.fail(String(error))

  /** What a worker does about policies, once, by a database that may be watched. */
  const tick = (database: Database = bench.inspection.database, stopping = () => false): Promise<void> => {
    const { clock } = bench.inspection
    return runDuePolicies(
      { database, clock, cleanupGraceMs: graceMs, keptKinds: keptOfSlices, reach: noFaults, report },
      stopping,
    )
  }

  /** A database before whose n-th transaction something happens. */
  const beforeTransaction = (n: number, happen: () => Promise<unknown> | undefined): Database => {
    const { database } = bench.inspection
    let transactions = 0
    return Object.create(database, {
      transaction: {
        value: async (...asked: Parameters<Database['transaction']>) => {
          transactions += 1
          if (transactions === n) await happen()
          return database.transaction(...asked)
        },
      },
    })
  }

  /** One manifest under so many tags. */
  const pushUnder = async (at: ImagePlace, manifest: Pushed, count: number): Promise<void> => {
    const tags = Array.from({ length: count }, (_, n) => `n${n}`)
    for (let from = 0; from < count; from += tagsPerPushMax)
      await at.tag('app', manifest, ...tags.slice(from, from + tagsPerPushMax))
  }

  describe('a run of a storage policy', () => {
    it('by hand deletes up to a hundred images, and the preview says that there are more', async () => {
      const at = await open()
      const tags = await at.many('app', 104)
      await at.there.save(policy)
      const { images, hasMore } = await at.there.get('/storage/preview')
      assert.deepEqual([images.length, hasMore], [100, true])
      assert.equal((await at.run()).length, 100)
      assert.deepEqual(await at.tags('app'), tags.slice(100))
      const { code, details } = (await at.there.events()).at(-1)
      assert.equal(code, 'run.finished')
      const told = { trigger: 'manual', actor: at.there.actor, deleted: 0, kept: 0, imagesDeleted: 100, imagesKept: 0 }
      assert.deepEqual(details, told)
      assert.equal((await at.there.get('/storage/preview')).hasMore, false)
      assert.equal((await at.run()).length, 3)
      assert.deepEqual(await at.tags('app'), tags.slice(103))
    })

    it('takes a bounded number of tags away, the oldest first, and goes on', async () => {
      const at = await open()
      await pushUnder(at, await at.push('app', 'first'), tagsPerRemoval + 50)
      await at.push('app', 'newest')
      await at.there.save(policy)
      const outcomes = async () => (await at.run()).map(({ outcome }) => outcome)
      assert.equal((await at.preview())[0]?.tags.length, 20)
      assert.deepEqual(await outcomes(), ['partly'])
      const left = await at.tags('app')
      assert.equal(left.length, 52)
      assert.ok(!left.includes('first') && left.includes(`n${tagsPerRemoval + 49}`))
      assert.deepEqual(await outcomes(), ['deleted'])
      assert.deepEqual(await at.tags('app'), ['newest'])
    })

    it('by the schedule deletes all of them, in batches, in the name of retention', async () => {
      const at = await open()
      const tags = await at.many('app', 130)
      await pushUnder(at, await at.push('other', 'x').then(() => at.push('app', 'many')), tagsPerRemoval + 1)
      await at.push('app', 'newest')
      await at.there.save(policy)
      bench.service.clock.advance(hour + 1_000)
      await tick()
      assert.deepEqual(await at.tags('app'), ['newest'])
      const { code, details } = (await at.there.events()).at(-1)
      const told = { trigger: 'schedule', actor: 'system:retention', deleted: 0, kept: 0 }
      assert.deepEqual([code, details], ['run.finished', { ...told, imagesDeleted: tags.length + 1, imagesKept: 0 }])
      const { lastDeletedImages, nextRunAt, lastError } = await at.there.get('/storage/policy')
      assert.deepEqual([lastDeletedImages, lastError], [tags.length + 1, null])
      assert.ok(Date.parse(nextRunAt) > bench.service.clock.now())
    })

    it('that is ended in the middle is due as it was, and goes on where it was', async () => {
      const at = await open()
      await at.many('app', 130)
      await at.there.save(policy)
      bench.service.clock.advance(hour + 1_000)
      const { nextRunAt } = await at.there.get('/storage/policy')
      let stopped = false
      await tick(
        beforeTransaction(1, async () => {
          stopped = true
        }),
        () => stopped,
      )
      const left = (await at.tags('app')).length
      assert.ok(left > 1 && left < 130, `${left} are left`)
      assert.equal((await at.there.get('/storage/policy')).nextRunAt, nextRunAt)
      await tick()
      assert.deepEqual(await at.tags('app'), ['t0129'])
    })

    it('that fails in the middle keeps what it did, and tells of it', async () => {
      const at = await open()
      await at.many('app', 130)
      await at.there.save(policy)
      bench.service.clock.advance(hour + 1_000)
      const failures: unknown[] = []
      const { clock } = bench.inspection
      const database = beforeTransaction(2, () => Promise.reject(new Error('broken')))
      const deps = { database, clock, cleanupGraceMs: graceMs, keptKinds: keptOfSlices, reach: noFaults }
      await runDuePolicies({ ...deps, report: (_, error) => failures.push(error) })
      assert.equal(failures.length, 1)
      assert.equal((await at.there.events()).at(-1).code, 'run.failed')
      assert.equal((await at.tags('app')).length, 30)
      bench.service.clock.advance(hour + 1_000)
      await tick()
      assert.deepEqual(await at.tags('app'), ['t0129'])
    })

    it('looks again under the lock: what was moved, staged, protected or made immutable meanwhile stays', async () => {
      for (const [happen, left] of [
        [(at: ImagePlace) => at.expect({ method: 'DELETE', path: `/v2/${at.whole('app')}/manifests/3` }, 202), ['2']],
        [(at: ImagePlace) => at.immutable('1'), ['1', '3']],
        [
          (at: ImagePlace) =>
            at.there.expect(
              { method: 'PUT', path: '/images/stages/tested', json: { image: 'app', reference: '2' } },
              200,
            ),
          ['2', '3'],
        ],
        [async (at: ImagePlace) => at.tag('app', await at.untagged('app'), 'newer'), ['3', 'newer']],
      ] as const) {
        const at = await open()
        for (const tag of ['1', '2', '3']) await at.push('app', tag)
        await at.there.save(policy)
        bench.service.clock.advance(hour + 1_000)
        await tick(beforeTransaction(1, () => happen(at)))
        assert.deepEqual(await at.tags('app'), left)
        await at.there.save({ enabled: false })
      }
    })

    it('ends when the policy is saved meanwhile: nothing goes by what it said', async () => {
      const at = await open()
      await at.many('app', 3)
      await at.there.save(policy)
      bench.service.clock.advance(hour + 1_000)
      await tick(beforeTransaction(1, () => at.there.save({ ...policy, keepLast: 5 })))
      assert.equal((await at.tags('app')).length, 3)
    })

    it('by two workers at once deletes each once', async () => {
      const at = await open()
      await at.many('app', 12)
      await at.there.save(policy)
      bench.service.clock.advance(hour + 1_000)
      await Promise.all([tick(), tick()])
      assert.deepEqual(await at.tags('app'), ['t0011'])
      const removals = await at.removals()
      assert.equal(removals.length, 11)
      assert.ok(removals.every(({ actor }) => actor === 'system:retention'))
      const runs = (await at.there.events()).filter(({ code }) => code === 'run.finished')
      assert.equal(runs.length, 1)
    })
  })

  it('what a policy deleted is gone after the grace period, with what belonged to it', async () => {
    const at = await open()
    const child = await at.untagged('app')
    const old = await at.index('app', 'old', [child])
    const signature = await at.push('app', 'signature', { subject: described(old.text, old.type) })
    const attached = await at.untagged('app', { subject: described(old.text, old.type) })
    const called = await at.push('app', `sha256-${old.digest.slice(7)}.sig`)
    const kept = await at.push('app', `sha256-${old.digest.slice(7)}-not`)
    const newest = await at.push('app', 'new', { subject: described(child.text, imageType) })
    await at.there.save({ ...policy, keepLast: 1 })
    await at.run()
    await at.tag('app', newest, 'newest')
    const settle = async (): Promise<void> => {
      await settleImages({ ...bench.inspection, cleanupGraceMs: graceMs, report })
      await reclaim(bench.inspection)
    }
    await settle()
    for (const each of [old, child, signature, attached, called, kept]) await at.isThere('app', each)
    bench.service.clock.advance(graceMs)
    await settle()
    for (const each of [old, child, attached]) await at.isThere('app', each, false)
    // They have tags: the one of its own, which counts from now on, and the one that was called after what is gone.
    await at.isThere('app', signature)
    assert.deepEqual(await at.tags('app'), ['new', 'newest', `sha256-${old.digest.slice(7)}-not`, 'signature'])
    bench.service.clock.advance(graceMs + hour)
    await settle()
    await at.isThere('app', called, false)
    await at.isThere('app', kept)
  })
})
