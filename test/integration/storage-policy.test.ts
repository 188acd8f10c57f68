import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createPerson, createRepository, grant } from '../harness/people.ts'
import { PolicyBench, type PolicyPlace } from '../harness/policies.ts'

after(closeConnections)

forEachEngine((engine) => {
  let bench: PolicyBench
  before(async () => {
    bench = await PolicyBench.open(engine)
  })
  after(() => bench.inspection.inOrder())
  after(() => bench.close())
  afterEach(() => bench.inspection.sums())

  describe('the storage policy', () => {
    let one: PolicyPlace
    before(async () => {
      one = await bench.fresh()
    })

    it('begins disabled and without a quota, and is replaced as a whole by comparing and swapping', async () => {
      const first = await one.get('/storage/policy')
      assert.equal(first.revision, 0)
      assert.deepEqual([first.policy.enabled, first.policy.quotaBytes], [false, null])
      assert.deepEqual([first.nextRunAt, first.lastRunAt, first.lastDeleted, first.lastError], [null, null, 0, null])
      const again = await one.put({ expectedRevision: 0, policy: first.policy })
      assert.deepEqual(again.json, { ...first, revision: 1 })
      const late = await one.put({ expectedRevision: 0, policy: first.policy })
      assert.deepEqual([late.status, late.json.code], [409, 'revision_mismatch'])
      const policy = {
        ...first.policy,
        grouping: 'package',
        keepLast: 3,
        channels: [{ label: 'beta', keepLast: 2 }],
        protectedLabels: ['golden'],
        minAgeHours: 0,
        intervalMinutes: 60,
        quotaBytes: '1000000000',
        warningPercent: 50,
        criticalPercent: 60,
      }
      const told = await one.put({ expectedRevision: 1, policy })
      assert.deepEqual(told.json, { ...first, revision: 2, policy })
      assert.deepEqual(await one.get('/storage/policy'), told.json)
      assert.equal((await one.get('/storage/usage')).quotaBytes, '1000000000')
      await one.save({ quotaBytes: null })
    })

    it('is swapped by exactly one of many', async () => {
      const { revision, policy } = await one.get('/storage/policy')
      const told = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          one.put({ expectedRevision: revision, policy: { ...policy, keepLast: n + 1 } }),
        ),
      )
      assert.deepEqual(told.map(({ status }) => status).sort(), [200, ...new Array(7).fill(409)])
      assert.equal((await one.get('/storage/policy')).revision, revision + 1)
    })

    it('refuses what contradicts itself or lies out of bounds, and says where', async () => {
      const { revision: expectedRevision, policy } = await one.get('/storage/policy')
      const channel = { label: 'x', keepLast: 1 }
      const wrong: [object, string][] = [
        [{ warningPercent: 60, criticalPercent: 60 }, '/policy/warningPercent'],
        [{ channels: [channel, { ...channel, keepLast: 2 }] }, '/policy/channels/1/label'],
        [{ channels: Array.from({ length: 33 }, (_, n) => ({ label: `l${n}`, keepLast: 1 })) }, '/policy/channels'],
        [{ protectedLabels: ['a', 'a'] }, '/policy/protectedLabels'],
        [{ protectedLabels: [''] }, '/policy/protectedLabels/0'],
        [{ keepLast: 0 }, '/policy/keepLast'],
        [{ keepLast: 100_001 }, '/policy/keepLast'],
        [{ minAgeHours: 87_601 }, '/policy/minAgeHours'],
        [{ intervalMinutes: 10_081 }, '/policy/intervalMinutes'],
        [{ quotaBytes: 5 }, '/policy/quotaBytes'],
        [{ warningPercent: 0 }, '/policy/warningPercent'],
        [{ criticalPercent: 100 }, '/policy/criticalPercent'],
        [{ grouping: 'channel' }, '/policy/grouping'],
        [{ more: 1 }, '/policy/more'],
      ]
      for (const [change, pointer] of wrong) {
        const told = await one.put({ expectedRevision, policy: { ...policy, ...change } })
        assert.deepEqual([told.status, told.json.code], [400, 'invalid_request'], told.text)
        assert.ok(
          told.json.details.some((each: Told['json']) => each.pointer === pointer),
          told.text,
        )
      }
      for (const field of Object.keys(policy)) {
        const { [field]: _, ...rest } = policy
        const told = await one.put({ expectedRevision, policy: rest })
        assert.equal(told.status, 400, field)
      }
    })

    it('is enabled only by a key that may delete', async () => {
      const manager = await one.another('storage.manage', 'storage.read')
      const { revision: expectedRevision, policy } = await one.get('/storage/policy')
      const refused = await one.put({ expectedRevision, policy: { ...policy, enabled: true } }, manager.secret)
      assert.deepEqual([refused.status, refused.json.code], [403, 'permission_missing'])
      const disabled = await one.put({ expectedRevision, policy }, manager.secret)
      assert.equal(disabled.status, 200, disabled.text)
    })

    it('belongs to those who may, and to nobody else', async () => {
      const stranger = await createPerson(bench.service, 'stranger')
      const reader = await createPerson(bench.service, 'reader')
      await grant(bench.service, reader, one.repository, 'write')
      for (const path of ['/storage/policy', '/storage/preview', '/storage/events']) {
        await one.expect({ path, credential: stranger.token }, 404)
        await one.expect({ path, credential: reader.token }, 403, 'permission_missing')
      }
    })

    it('goes with its repository', async () => {
      const there = await bench.fresh('passing')
      await there.save({ keepLast: 77, quotaBytes: '5000' })
      const gone = { method: 'DELETE', path: '/api/v1/repositories/passing', credential: bench.service.recoveryKey }
      assert.equal((await bench.service.ask(gone)).status, 204)
      await createRepository(bench.service, 'passing')
      const { secret: credential } = await there.another()
      const { revision, policy } = (await there.expect({ path: '/storage/policy', credential }, 200)).json
      assert.deepEqual([revision, policy.quotaBytes, policy.keepLast === 77], [0, null, false])
    })
  })

  describe('a run', () => {
    it('deletes what the preview shows, the newest of each package apart, and never an ordinary file', async () => {
      const there = await bench.fresh()
      const file = await there.file()
      const [a1, a2, a3] = [
        await there.version('a', '1.0.0'),
        await there.version('a', '3.0.0'),
        await there.version('a', '2.0.0'),
      ]
      const b1 = await there.version('b', '1.0.0')
      await there.save({ enabled: true, grouping: 'package', keepLast: 2 })
      const preview = await there.get('/storage/preview')
      assert.deepEqual(
        preview.items.map((each: Told['json']) => [each.id, each.blockers]),
        [[a1, []]],
      )
      assert.equal(preview.hasMore, false)
      assert.deepEqual(await there.run(), { [a1]: 'deleted' })
      for (const id of [a2, a3, b1, file]) await there.get(`/artifacts/${id}`)
      assert.deepEqual(await there.run(), {})
      const { lastRunAt, lastDeleted } = await there.get('/storage/policy')
      assert.ok(lastRunAt !== null)
      assert.equal(lastDeleted, 0)
    })

    it('keeps by count of the whole repository', async () => {
      const there = await bench.fresh()
      const ids: string[] = []
      for (const name of ['x', 'y', 'z', 'x']) ids.push(await there.version(name, `1.0.${ids.length}`))
      await there.save({ enabled: true, grouping: 'repository', keepLast: 2 })
      assert.deepEqual(await there.run(), { [ids[0] ?? '']: 'deleted', [ids[1] ?? '']: 'deleted' })
    })

    it('counts channels for themselves, and what is in none of them', async () => {
      const there = await bench.fresh()
      const beta1 = await there.version('a', '1.0.0', ['beta'])
      const plain1 = await there.version('a', '1.0.1')
      const beta2 = await there.version('a', '1.0.2', ['beta', 'other'])
      const plain2 = await there.version('a', '1.0.3', ['other'])
      const both = await there.version('a', '1.0.4', ['beta', 'stable'])
      const channels = [
        { label: 'beta', keepLast: 2 },
        { label: 'stable', keepLast: 1 },
      ]
      await there.save({ enabled: true, grouping: 'package-channel', keepLast: 1, channels })
      assert.deepEqual(await there.run(), { [beta1]: 'deleted', [plain1]: 'deleted' })
      for (const id of [beta2, plain2, both]) await there.get(`/artifacts/${id}`)
    })

    it('keeps what is too young, protected or blocked, which counts among the newest all the same', async () => {
      const there = await bench.fresh()
      const referred = await there.version('a', '1.0.0')
      const golden = await there.version('a', '1.0.1', ['golden'])
      const old = await there.version('a', '1.0.2')
      await there.refer(referred)
      bench.service.clock.advance(3 * hour)
      const young = await there.version('a', '1.0.3')
      const newest = await there.version('a', '1.0.4')
      await there.save({ enabled: true, grouping: 'package', keepLast: 1, minAgeHours: 2, protectedLabels: ['golden'] })
      assert.deepEqual(await there.run(), { [old]: 'deleted' })
      for (const id of [referred, golden, young, newest]) await there.get(`/artifacts/${id}`)
      bench.service.clock.advance(3 * hour)
      assert.deepEqual(await there.run(), { [young]: 'deleted' })
    })

    it('is refused while the policy is disabled, and at another revision; the preview is not', async () => {
      const there = await bench.fresh()
      const id = await there.version('a', '1.0.0')
      await there.version('a', '1.0.1')
      await there.save({ enabled: false, grouping: 'package', keepLast: 1 })
      const preview = await there.get('/storage/preview')
      assert.deepEqual(
        preview.items.map((each: Told['json']) => each.id),
        [id],
      )
      await there.refusedRun(preview.revision, 'policy_disabled')
      await there.refusedRun(preview.revision + 1, 'revision_mismatch')
      await there.get(`/artifacts/${id}`)
    })

    it('deletes at most a hundred, and says that there is more', async () => {
      const there = await bench.fresh()
      await there.many('a', 120)
      await there.save({ enabled: true, grouping: 'package', keepLast: 5 })
      const { items, hasMore } = await there.get('/storage/preview')
      assert.deepEqual([items.length, hasMore], [100, true])
      const told = await there.run()
      assert.deepEqual(Object.keys(told).sort(), items.map((each: Told['json']) => each.id).sort())
      assert.equal((await there.get('/storage/preview')).items.length, 15)
      assert.equal(Object.keys(await there.run()).length, 15)
      assert.equal(Object.keys(await there.run()).length, 0)
    })

    it('and another at the same time delete each file once, and none too many while others publish and delete', async () => {
      const there = await bench.fresh()
      for (let n = 0; n < 6; n++) await there.version('a', `1.0.${n}`)
      await there.save({ enabled: true, grouping: 'package', keepLast: 3 })
      const runs = await Promise.all([
        there.run(),
        there.run(),
        there.version('a', '2.0.0').then(() => ({})),
        there.run(),
      ])
      const deleted = runs.flatMap((told) => Object.entries(told).filter(([, outcome]) => outcome === 'deleted'))
      assert.equal(new Set(deleted.map(([id]) => id)).size, deleted.length)
      assert.ok((await there.versions()).length >= 3)
      await there.run()
      assert.equal((await there.versions()).length, 3)
    })

    it('keeps what is among the newest by then, when a newer one is deleted at the same moment', async () => {
      for (let round = 0; round < 6; round++) {
        const there = await bench.fresh()
        const ids: string[] = []
        for (let n = 0; n < 5; n++) ids.push(await there.version('a', `1.0.${n}`))
        await there.save({ enabled: true, grouping: 'package', keepLast: 3 })
        const other = (await there.another()).secret
        await Promise.all([there.run(other), ...ids.slice(2, 4).map((id) => there.remove(id)), there.run(other)])
        const left = await there.versions()
        const order = await there.deletions()
        // Whatever a run deleted had three newer ones at its place in the journal.
        const alive = new Set(ids)
        for (const { id, actor } of order) {
          const newer = ids.filter((other) => other > id && alive.has(other)).length
          if (actor !== there.actor) assert.ok(newer >= 3, JSON.stringify({ ids, order, left }))
          alive.delete(id)
        }
      }
    })
  })
})
