import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { runDuePolicies } from '../../src/features/lifecycle/policies/jobs.ts'
import { watchQuotas } from '../../src/features/lifecycle/policies/quota.ts'
import { forgetStorageEvents } from '../../src/journal/storage-events/storage-events.ts'
import { noFaults } from '../../src/kernel/fault-points.ts'
import { storageEventsMax } from '../../src/kernel/limits/journal.ts'
import { hour } from '../../src/kernel/units.ts'
import { keptOfSlices } from '../../src/main/slices.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { PolicyBench, PolicyPlace } from '../harness/policies.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService } from '../harness/service.ts'
import { binding, revocation, type TestKey } from '../harness/service-keys.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

forEachEngine((engine) => {
  let bench: PolicyBench
  before(async () => {
    bench = await PolicyBench.open(engine)
  })
  after(() => bench.inspection.inOrder())
  after(() => bench.close())
  afterEach(() => bench.inspection.sums())

  /** What a worker does about policies, once. */
  const tick = (): Promise<void> => {
    const { database, clock } = bench.inspection
    return runDuePolicies({
      database,
      clock,
      cleanupGraceMs: 24 * hour,
      keptKinds: keptOfSlices,
      reach: noFaults,
      report: (_, error) => assert.fail(String(error)),
    })
  }

  const codesOf = async (there: PolicyPlace): Promise<string[]> => (await there.events()).map(({ code }) => code)

  describe('the schedule', () => {
    it('tells of a run that failed, which deletes nothing, and tries again when its next time comes', async () => {
      const there = await bench.fresh()
      const first = await there.version('a', '1.0.0')
      await there.version('a', '1.0.1')
      const { revision } = await there.save({ enabled: true, grouping: 'package', keepLast: 1, intervalMinutes: 60 })
      bench.service.clock.advance(hour + 1_000)
      const { database, clock } = bench.inspection
      const reports: unknown[] = []
      // No time can be told from this grace period: a fault in the middle of the run, after files are put aside.
      const cleanupGraceMs = Number.NaN
      await runDuePolicies({
        database,
        clock,
        cleanupGraceMs,
        keptKinds: [],
        reach: noFaults,
        report: (_, error) => reports.push(error),
      })
      assert.equal(reports.length, 1)
      await there.get(`/artifacts/${first}`)
      const { level, code, details } = (await there.events()).at(-1)
      const told = { level: 'error', code: 'run.failed', details: { trigger: 'schedule', revision } }
      assert.deepEqual({ level, code, details }, told)
      const after = await there.get('/storage/policy')
      assert.equal(after.lastError, 'run_failed')
      assert.ok(Math.abs(Date.parse(after.nextRunAt) - clock.now() - hour) < 5_000)
      await tick()
      await there.get(`/artifacts/${first}`)
      bench.service.clock.advance(hour + 1_000)
      await tick()
      await there.expect({ path: `/artifacts/${first}` }, 404)
      assert.equal((await there.get('/storage/policy')).lastError, null)
    })

    it('deletes for the first time one interval after the policy was enabled, and then every interval', async () => {
      const there = await bench.fresh()
      const [first, second] = [await there.version('a', '1.0.0'), await there.version('a', '1.0.1')]
      const saved = await there.save({ enabled: true, grouping: 'package', keepLast: 1, intervalMinutes: 60 })
      const dueAt = Date.parse(saved.nextRunAt)
      assert.ok(Math.abs(dueAt - bench.service.clock.now() - hour) < 5_000)
      await tick()
      bench.service.clock.advance(hour - 10_000)
      await tick()
      await there.get(`/artifacts/${first}`)
      bench.service.clock.advance(20_000)
      await tick()
      await there.expect({ path: `/artifacts/${first}` }, 404)
      await there.get(`/artifacts/${second}`)
      const after = await there.get('/storage/policy')
      assert.deepEqual([after.lastDeleted, after.lastError], [1, null])
      assert.ok(Math.abs(Date.parse(after.nextRunAt) - bench.service.clock.now() - hour) < 5_000)
      assert.deepEqual(await there.deletions(), [{ id: first, actor: 'system:retention' }])
      const told = (await there.events()).at(-1)
      assert.deepEqual(
        [told.code, told.level, told.details],
        ['run.finished', 'info', { trigger: 'schedule', actor: 'system:retention', deleted: 1, kept: 0 }],
      )
      bench.service.clock.advance(hour + 10_000)
      await tick()
      const idle = await there.get('/storage/policy')
      assert.deepEqual([idle.lastDeleted, idle.lastError], [0, null])
      assert.ok(idle.lastRunAt > after.lastRunAt)
      assert.equal((await codesOf(there)).filter((code) => code === 'run.finished').length, 1)
    })

    it('runs once, however many workers there are', async () => {
      const there = await bench.fresh()
      for (let n = 0; n < 5; n++) await there.version('a', `1.0.${n}`)
      await there.save({ enabled: true, grouping: 'package', keepLast: 1, intervalMinutes: 60 })
      bench.service.clock.advance(hour + 10_000)
      await Promise.all(Array.from({ length: 6 }, tick))
      assert.equal((await there.get('/storage/policy')).lastDeleted, 4)
      assert.deepEqual(await codesOf(there), ['policy.saved', 'run.finished'])
      assert.equal((await there.deletions()).length, 4)
    })

    it('is done by a worker without being asked, and not after the policy was disabled', async () => {
      const service = await startService(engine)
      try {
        const there = await PolicyPlace.in(service, 'releases')
        const [first, second] = [await there.version('a', '1.0.0'), await there.version('a', '1.0.1')]
        await there.save({ enabled: true, grouping: 'package', keepLast: 1, intervalMinutes: 60 })
        await there.save({ enabled: false, keepLast: 1 })
        assert.equal((await there.get('/storage/policy')).nextRunAt, null)
        await there.save({ enabled: true, grouping: 'package', keepLast: 1, intervalMinutes: 60 })
        service.clock.advance(hour + 10_000)
        // A worker begins with a run.
        await service.restart()
        await until('the file is gone', async () => (await there.ask({ path: `/artifacts/${first}` })).status === 404)
        await there.get(`/artifacts/${second}`)
      } finally {
        await service.stop()
      }
    })

    type Withdraw = (there: PolicyPlace, key: TestKey) => Promise<unknown>
    const recovery = (): string => bench.service.recoveryKey
    const accountPath = (key: TestKey): string => `/api/v1/service-accounts/${key.accountId}`
    const narrow = async (there: PolicyPlace, key: TestKey, ...left: ('storage.manage' | 'artifact.delete')[]) => {
      const path = `${accountPath(key)}/policy`
      const json = { expectedRevision: 1, bindings: [binding(there.repository, 'repository.read', ...left)] }
      await expectAnswer(bench.service, { method: 'PUT', path, credential: recovery(), json }, 200)
    }
    const withdrawals: [string, string, Withdraw][] = [
      ['is revoked', 'key_revoked', (_, key) => expectAnswer(bench.service, revocation(key.id, recovery()), 200)],
      ['expires', 'key_expired', async () => bench.service.clock.advance(91 * 24 * hour)],
      [
        'belongs to an account that is disabled',
        'account_disabled',
        (_, key) => {
          const json = { expectedRevision: 1, enabled: false }
          return expectAnswer(
            bench.service,
            { method: 'PATCH', path: accountPath(key), credential: recovery(), json },
            200,
          )
        },
      ],
      ['may no longer delete there', 'permission_missing', (there, key) => narrow(there, key, 'storage.manage')],
      [
        'may no longer manage storage there',
        'permission_missing',
        (there, key) => narrow(there, key, 'artifact.delete'),
      ],
    ]
    for (const [what, reason, withdraw] of withdrawals)
      it(`stops, and says so, when the key that enabled it ${what}, until another saves the policy`, async () => {
        const there = await bench.fresh()
        const [first, second] = [await there.version('a', '1.0.0'), await there.version('a', '1.0.1')]
        const key = await there.another()
        await there.save({ enabled: true, grouping: 'package', keepLast: 1, intervalMinutes: 60 }, key.secret)
        await withdraw(there, key)
        bench.service.clock.advance(hour + 10_000)
        await Promise.all([tick(), tick()])
        const now = await PolicyPlace.in(bench.service, there.repository)
        await now.get(`/artifacts/${first}`)
        const stopped = await now.get('/storage/policy')
        assert.deepEqual(
          [stopped.policy.enabled, stopped.nextRunAt, stopped.lastError, stopped.lastRunAt],
          [true, null, reason, null],
        )
        const told = (await now.events('?level=error')).map(({ code, details }) => [code, details])
        assert.deepEqual(told, [['schedule.stopped', { reason, keyId: key.id, revision: 1 }]])
        bench.service.clock.advance(48 * hour)
        await tick()
        await now.get(`/artifacts/${first}`)
        const again = await now.save({ enabled: true, grouping: 'package', keepLast: 1, intervalMinutes: 60 })
        assert.equal(again.lastError, null)
        bench.service.clock.advance(hour + 10_000)
        await tick()
        await now.expect({ path: `/artifacts/${first}` }, 404)
        await now.get(`/artifacts/${second}`)
        assert.equal((await now.events('?level=error')).length, 1)
      })
  })

  describe('storage events', () => {
    it('are read from where one stopped, by level, and always say where to go on', async () => {
      const there = await bench.fresh()
      assert.deepEqual(await there.get('/storage/events'), { items: [], next: '0' })
      assert.deepEqual(await there.get('/storage/events?after=17'), { items: [], next: '17' })
      await there.save({})
      await there.save({ keepLast: 2 })
      const { items, next } = await there.get('/storage/events')
      assert.deepEqual(
        items.map((each: Told['json']) => [each.sequence, each.level, each.code]),
        [
          ['1', 'info', 'policy.saved'],
          ['2', 'info', 'policy.saved'],
        ],
      )
      assert.deepEqual(items[1].details, { revision: 2, enabled: 'false', actor: there.actor, keyId: there.key.id })
      assert.equal(next, '2')
      assert.deepEqual(
        (await there.events('?after=1')).map(({ sequence }) => sequence),
        ['2'],
      )
      assert.deepEqual(await there.get('/storage/events?level=error&after=1'), { items: [], next: '1' })
      for (const wrong of ['level=fatal', 'after=-1', 'after=x', 'limit=5'])
        await there.expect({ path: `/storage/events?${wrong}` }, 400, 'invalid_request')
      await there.get('/storage/events?after=999999999999999')
    })

    it('tell of usage that goes by another name, each time once', async () => {
      const there = await bench.fresh()
      const { database, clock } = bench.inspection
      await there.file()
      const reserved = Number((await there.get('/storage/usage')).reservedBytes)
      await there.save({ quotaBytes: String(reserved * 2), warningPercent: 50, criticalPercent: 90 })
      assert.equal((await there.get('/storage/usage')).state, 'warning')
      const tell = (): Promise<void> => watchQuotas({ database, clock, report: assert.fail })
      await Promise.all([tell(), tell()])
      await there.file()
      await Promise.all([tell(), tell()])
      await there.save({ quotaBytes: '1' })
      await there.save({ quotaBytes: null })
      await tell()
      const told = (await there.events()).filter(({ code }) => code === 'quota.changed')
      assert.deepEqual(
        told.map(({ level, details: { from, to } }) => [level, from, to]),
        [
          ['warning', 'unlimited', 'warning'],
          ['warning', 'warning', 'critical'],
          ['error', 'critical', 'exceeded'],
          ['info', 'exceeded', 'unlimited'],
        ],
      )
    })

    it('tell what was reclaimed', async () => {
      const there = await bench.fresh()
      const id = await there.file()
      const { size } = (await there.get(`/artifacts/${id}`)).descriptor
      await there.remove(id)
      bench.service.clock.advance(25 * hour)
      await bench.inspection.upkeep()
      const told = (await there.events()).map(({ code, details }) => [code, details])
      assert.deepEqual(told, [['reclaim.finished', { files: 1, bytes: size }]])
    })

    it('are kept up to a thousand of a repository and twenty thousand of all, the newest', async () => {
      const there = await bench.fresh()
      const { repository } = there
      const fill = (from: number, count: number, occurred_at: string) =>
        inDatabase(bench.service, async (q) => {
          for (let at = 0; at < count; at += 1_000)
            await q
              .insertInto('storage_events')
              .values(
                Array.from({ length: Math.min(1_000, count - at) }, (_, n) => ({
                  repository,
                  sequence: from + at + n,
                  occurred_at,
                  level: 'info' as const,
                  code: 'policy.saved',
                  details: '{}',
                })),
              )
              .execute()
          await q
            .updateTable('repositories')
            .set({ storage_event_head: from + count - 1 })
            .where('id', '=', repository)
            .execute()
        })
      await fill(1, 1_000, '2020-01-01T00:00:00.000Z')
      await there.save({})
      const { items } = await there.get('/storage/events')
      assert.deepEqual([items.length, items[0].sequence], [100, '2'])
      await fill(1_002, storageEventsMax, '2021-01-01T00:00:00.000Z')
      await forgetStorageEvents(bench.inspection.database)
      const left = await inDatabase(bench.service, (q) =>
        q.selectFrom('storage_events').select(['repository', 'sequence', 'occurred_at']).execute(),
      )
      assert.equal(left.length, storageEventsMax)
      // What was told by the clock of today is newer than all of those.
      assert.ok(left.some((row) => row.repository === repository && row.sequence === 1_001))
      assert.ok(!left.some((row) => row.occurred_at.startsWith('2020')))
    })
  })
})
