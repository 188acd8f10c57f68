import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import type { Database } from '../../src/database/database.ts'
import { runDuePolicies } from '../../src/features/lifecycle/policies/jobs.ts'
import { runPolicy } from '../../src/features/lifecycle/policies/run.ts'
import { Failure } from '../../src/kernel/failure.ts'
import { noFaults } from '../../src/kernel/fault-points.ts'
import { hour } from '../../src/kernel/units.ts'
import { keptOfSlices } from '../../src/main/slices.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { PolicyBench, type PolicyPlace } from '../harness/policies.ts'
import { revocation } from '../harness/service-keys.ts'

after(closeConnections)

/**
 * A run looks without a lock and then deletes under one. Here something happens exactly in between, which by chance it
 * nearly never does.
 */
forEachEngine((engine) => {
  let bench: PolicyBench
  before(async () => {
    bench = await PolicyBench.open(engine)
  })
  after(() => bench.inspection.inOrder())
  after(() => bench.close())
  afterEach(() => bench.inspection.sums())

  /** The parts of a run whose first transaction has to wait until something else has happened. */
  const disturbed = (happen: () => Promise<unknown>) => {
    const { database, clock } = bench.inspection
    let disturbance: (() => Promise<unknown>) | null = happen
    const between: Database = {
      get patient() {
        return this
      },
      engine: database.engine,
      reader: database.reader,
      transaction: async (work, options) => {
        const first = disturbance
        disturbance = null
        await first?.()
        return database.transaction(work, options)
      },
      snapshot: (work) => database.snapshot(work),
      settled: () => database.settled(),
      probe: () => database.probe(),
      listen: (listener) => database.listen(listener),
      [Symbol.asyncDispose]: async () => {},
    }
    return { keptKinds: keptOfSlices, reach: noFaults, database: between, clock, cleanupGraceMs: 24 * hour }
  }

  const filled = async (grouping: string, labels: readonly string[] = []) => {
    const there = await bench.fresh()
    const ids: string[] = []
    for (let n = 0; n < 4; n++) ids.push(await there.version('a', `1.0.${n}`, labels))
    const channels = labels.map((label) => ({ label, keepLast: 2 }))
    const rules = { enabled: true, grouping, keepLast: 2, channels, intervalMinutes: 60 }
    const { revision } = await there.save(rules)
    return { there, ids, revision, rules }
  }

  const outcomes = async (there: PolicyPlace, revision: number, happen: () => Promise<unknown>) => {
    const { files } = await runPolicy(disturbed(happen), there.repository, revision, 'service-account:x')
    return files.map(({ outcome }) => outcome)
  }

  describe('between the look and the lock of a run', () => {
    for (const [grouping, labels] of [
      ['package', []],
      ['repository', []],
      ['package-channel', []],
      ['package-channel', ['beta']],
    ] as const)
      it(`a newer version may go: what is kept by count is counted again (${grouping}, ${labels.length} channels)`, async () => {
        const { there, ids, revision } = await filled(grouping, labels)
        const gone = ids.slice(2, 3)
        const told = await outcomes(there, revision, () => there.remove(gone[0] ?? ''))
        assert.deepEqual(told, ['deleted', 'not_eligible'])
        assert.deepEqual((await there.versions()).sort(), [ids[1], ids[3]].sort())
      })

    it('a newer version may come: no more goes than was shown', async () => {
      const { there, ids, revision } = await filled('package')
      const told = await outcomes(there, revision, () => there.version('a', '2.0.0'))
      assert.deepEqual(told, ['deleted', 'deleted'])
      assert.deepEqual((await there.versions()).filter((id) => ids.includes(id)).sort(), ids.slice(2).sort())
    })

    it('a file may be given what keeps it, or be deleted by another', async () => {
      const { there, ids, revision } = await filled('package')
      const [first = '', second = ''] = ids
      const told = await outcomes(there, revision, async () => {
        await there.refer(first)
        await there.remove(second)
      })
      assert.deepEqual(told, ['protected', 'already_deleted'])
    })

    it('the policy may be saved: nothing is deleted by what it said', async () => {
      const { there, ids, revision, rules } = await filled('package')
      for (const change of [
        { ...rules, keepLast: 9 },
        { ...rules, enabled: false },
      ]) {
        const { revision: seen } = await there.get('/storage/policy')
        await there.save({ ...rules })
        const run = runPolicy(
          disturbed(() => there.save(change)),
          there.repository,
          seen + 1,
          'service-account:x',
        )
        await assert.rejects(run, (error) => error instanceof Failure && error.code === 'revision_mismatch')
      }
      assert.ok((await there.get('/storage/policy')).revision > revision)
      assert.equal((await there.versions()).length, ids.length)
    })
  })

  describe('between the look and the lock of the schedule', () => {
    const tick = (happen: () => Promise<unknown>): Promise<void> =>
      runDuePolicies({ ...disturbed(happen), report: (_, error) => assert.fail(String(error)) })
    const calm = async (): Promise<void> => {}

    it('another worker may be faster: it is done once', async () => {
      const { there, ids } = await filled('package')
      bench.service.clock.advance(2 * hour)
      await tick(() => tick(calm))
      assert.equal((await there.get('/storage/policy')).lastDeleted, 2)
      assert.deepEqual((await there.versions()).sort(), ids.slice(2).sort())
      const runs = (await there.events()).filter(({ code }) => code === 'run.finished')
      assert.equal(runs.length, 1)
    })

    it('the policy may be saved: nothing is deleted before its new time comes', async () => {
      const { there, ids, rules } = await filled('package')
      bench.service.clock.advance(2 * hour)
      await tick(() => there.save({ ...rules, keepLast: 3 }))
      assert.equal((await there.versions()).length, ids.length)
      bench.service.clock.advance(2 * hour)
      await tick(calm)
      assert.equal((await there.versions()).length, 3)
    })

    it('the key may be revoked: nothing is deleted, and the schedule stops', async () => {
      const { there, ids } = await filled('package')
      bench.service.clock.advance(2 * hour)
      await tick(() => expectAnswer(bench.service, revocation(there.key.id, bench.service.recoveryKey), 200))
      await tick(calm)
      const other = (await there.another()).secret
      const { json } = await there.expect({ path: '/storage/policy', credential: other }, 200)
      assert.deepEqual([json.nextRunAt, json.lastError, json.lastDeleted], [null, 'key_revoked', 0])
      const { items } = (await there.expect({ path: '/packages', credential: other }, 200)).json
      assert.equal(items.length, ids.length)
    })
  })
})
