import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { runDuePolicies } from '../../src/features/lifecycle/policies/jobs.ts'
import { noFaults } from '../../src/kernel/fault-points.ts'
import { hour, minute } from '../../src/kernel/units.ts'
import { keptOfSlices } from '../../src/main/slices.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { escaped } from '../harness/npm-documents.ts'
import { npmPublisher } from '../harness/npm-packages.ts'
import { PolicyBench, type PolicyPlace } from '../harness/policies.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

const graceMs = 24 * hour

forEachEngine((engine) => {
  let bench: PolicyBench
  let there: PolicyPlace
  before(async () => {
    bench = await PolicyBench.open(engine)
  })
  after(() => bench.inspection.inOrder())
  after(() => bench.close())
  // So that no test runs the policies of others.
  afterEach(() => there.save({ enabled: false }))

  const npm = () => npmPublisher(there.service, there.key.secret, there.repository)
  /** Versions of a package, an hour after each other. */
  const publish = async (name: string, ...versions: string[]): Promise<void> => {
    for (const version of versions) {
      there.service.clock.advance(hour)
      await npm().publish({ name, version })
    }
  }
  const tag = (name: string, at: string, version: string): Promise<Told> =>
    npm().expect({ method: 'PUT', path: npm().at(`/-/package/${escaped(name)}/dist-tags/${at}`), json: version }, 200)
  const versionsOf = async (name: string): Promise<string[]> => Object.keys((await npm().document(name)).json.versions)
  const going = async (): Promise<string[]> =>
    (await there.get('/storage/preview')).npmVersions.map(
      (each: { package: string; version: string }) => `${each.package}@${each.version}`,
    )
  const run = async (): Promise<Record<string, string>> => {
    const { revision: expectedRevision } = await there.get('/storage/policy')
    const asked = { method: 'POST', path: '/storage/run', json: { expectedRevision } }
    const { npmVersions } = (await there.expect(asked, 200)).json
    return Object.fromEntries(
      npmVersions.map((each: { package: string; version: string; outcome: string }) => [
        `${each.package}@${each.version}`,
        each.outcome,
      ]),
    )
  }
  const policy = { enabled: true, grouping: 'package', keepLast: 2, intervalMinutes: 60 }
  const tick = (): Promise<void> => {
    const { clock, database } = bench.inspection
    const report = (_: string, error: unknown): never => assert.fail(String(error))
    const deps = { database, clock, cleanupGraceMs: graceMs, keptKinds: keptOfSlices, reach: noFaults, report }
    return runDuePolicies(deps)
  }
  const unpublished = () =>
    inDatabase(there.service, (q) =>
      q
        .selectFrom('journal')
        .select(['detail', 'actor'])
        .where('repository', '=', there.repository)
        .where('action', '=', 'package.unpublish')
        .orderBy('sequence')
        .execute(),
    )

  describe('npm versions under a storage policy', () => {
    it('stay where they are among the newest of their package, tagged, staged or young', async () => {
      there = await bench.fresh()
      await publish('app', '1.0.0', '1.0.1', '1.0.2', '1.0.3', '1.0.4', '1.0.5')
      await publish('@acme/lib', '0.1.0', '0.2.0')
      await tag('app', 'stable', '1.0.1')
      await there.expect({ method: 'PUT', path: '/npm/stages/tested', json: { package: 'app', version: '1.0.2' } }, 200)
      await there.save({ ...policy, enabled: false })
      assert.deepEqual(await going(), ['app@1.0.0', 'app@1.0.3'])
      await there.save({ ...policy, minAgeHours: 6 })
      assert.deepEqual(await going(), ['app@1.0.0'])
      await there.save({ ...policy, keepLast: 5 })
      assert.deepEqual(await going(), ['app@1.0.0'])
      await there.save({ ...policy, grouping: 'repository', keepLast: 3 })
      assert.deepEqual(await going(), ['app@1.0.0', 'app@1.0.3', 'app@1.0.4'])
    })

    it('say why they stay, or go', async () => {
      await there.save({ ...policy, protectedLabels: ['sta*'] })
      const explain = (version: string) => there.get(`/npm/explain?package=app&version=${version}`)
      const goes = await explain('1.0.0')
      assert.deepEqual([goes.decision, goes.blockers], ['deletable', []])
      const kept = await explain('1.0.1')
      assert.deepEqual([kept.decision, kept.blockers], ['kept', ['protected_label', 'dist_tag']])
      assert.match(kept.reasons[1].text, /Clients install it by “stable”/)
      assert.deepEqual((await explain('1.0.2')).blockers, ['promotion_stage'])
      const newest = await explain('1.0.4')
      assert.deepEqual(newest.reasons[0].code, 'newest_in_package')
      await there.expect({ path: '/npm/explain?package=app&version=9.9.9' }, 404)
      const reader = await there.another('artifact.read')
      const told = (
        await there.expect({ path: '/npm/explain?package=app&version=1.0.1', credential: reader.secret }, 200)
      ).json
      assert.deepEqual([told.decision, told.blockers, told.policy], ['kept', [], null])
    })

    it('are unpublished by a run: their numbers stay taken, and they can be brought back', async () => {
      await there.save(policy)
      assert.deepEqual(await run(), { 'app@1.0.0': 'deleted', 'app@1.0.3': 'deleted' })
      assert.deepEqual(await versionsOf('app'), ['1.0.1', '1.0.2', '1.0.4', '1.0.5'])
      assert.deepEqual((await npm().document('app')).json['dist-tags'], { latest: '1.0.5', stable: '1.0.1' })
      await npm().expect({ path: npm().at('/app/-/app-1.0.0.tgz') }, 404)
      await npm().publish({ name: 'app', version: '1.0.0' }, {}, 409)
      const { actor } = there
      const lines = ['1.0.0', '1.0.3'].map((version) => ({ detail: `app@${version}`, actor }))
      assert.deepEqual(await unpublished(), lines)
      const [event] = (await there.events()).filter(({ code }) => code === 'run.finished')
      const counts = { deleted: 0, kept: 0, npmVersionsDeleted: 2, npmVersionsKept: 0 }
      assert.deepEqual(event.details, { trigger: 'manual', actor, ...counts })
      assert.equal((await there.get('/storage/policy')).lastDeletedNpmVersions, 2)
      const restorer = await there.another('artifact.read', 'asset.restore')
      const json = { package: 'app', version: '1.0.3' }
      await there.expect({ path: '/npm/versions/restore', credential: restorer.secret, json }, 200)
      assert.ok((await versionsOf('app')).includes('1.0.3'))
    })

    it('are judged again under the lock: what got a tag since it was looked at stays', async () => {
      there = await bench.fresh()
      await publish('raced', '1.0.0', '1.1.0', '1.2.0')
      await there.save({ ...policy, keepLast: 1 })
      const { database, clock } = bench.inspection
      const [kind] = keptOfSlices.filter(({ name }) => name === 'npmVersions')
      assert.ok(kind !== undefined)
      const { policy: rules } = await there.get('/storage/policy')
      const looked = await Array.fromAsync(kind.look(database.reader, there.repository, rules, clock.now()))
      const things = looked.flat()
      assert.deepEqual(
        things.map(({ called }) => called),
        ['1.0.0', '1.1.0'],
      )
      await tag('raced', 'stable', '1.1.0')
      const told = await database.transaction(async (tx) => {
        await kind.lock(tx, things)
        const removal = { rules, things, actor: there.actor, nowMs: clock.now() }
        return await kind.remove(tx, there.repository, removal)
      })
      assert.deepEqual(
        told.map(({ called, outcome, blockers }) => [called, outcome, blockers]),
        [
          ['1.0.0', 'deleted', []],
          ['1.1.0', 'protected', ['dist_tag']],
        ],
      )
      assert.deepEqual(await versionsOf('raced'), ['1.1.0', '1.2.0'])
    })

    it('go by the schedule, more of them than a run by hand takes, of several packages', async () => {
      there = await bench.fresh()
      const many = Array.from({ length: 104 }, (_, n) => `1.0.${n}`)
      for (const version of many) {
        there.service.clock.advance(minute)
        await npm().publish({ name: 'nightly', version })
      }
      await publish('other', '1.0.0', '1.1.0', '1.2.0')
      await there.save(policy)
      assert.equal((await there.get('/storage/preview')).hasMore, true)
      there.service.clock.advance(2 * hour)
      await tick()
      assert.deepEqual(await versionsOf('nightly'), many.slice(-2))
      assert.deepEqual(await versionsOf('other'), ['1.1.0', '1.2.0'])
      const lines = await unpublished()
      assert.equal(lines.length, 103)
      assert.ok(lines.every(({ actor }) => actor === 'system:retention'))
      const [event] = (await there.events()).filter(({ code }) => code === 'run.finished')
      assert.deepEqual([event.details.npmVersionsDeleted, event.details.npmVersionsKept], [103, 0])
      assert.equal((await there.get('/storage/policy')).lastDeletedNpmVersions, 103)
    })
  })
})
