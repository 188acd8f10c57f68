import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { forEachEngine, type TestEngine } from '../../../test/harness/engines.ts'
import { until } from '../../../test/harness/until.ts'
import type { Database } from '../../database/database.ts'
import { migrate } from '../../database/migrate.ts'
import { migrations } from '../../database/migrations/index.ts'
import { openDatabase } from '../../database/open.ts'
import { gatewayBeatMs, gatewayBeatsApartMs, gatewayLeaseMs } from '../../kernel/limits/downloads.ts'
import { VirtualTime } from '../../kernel/virtual-time.suite.ts'
import { fairPart, type SharedSlots, shareSlots } from './shared-slots.ts'

/** A gateway with as many downloads as the test says. */
interface TestGateway {
  readonly load: { held: number; waiting: number }
  /** What it was last told that it may give out. */
  readonly allowed: () => number
  readonly want: () => void
  readonly shared: SharedSlots
  readonly reports: string[]
}

const join = async (
  database: Database,
  time: VirtualTime,
  total: number,
  load = { held: 0, waiting: 0 },
): Promise<TestGateway> => {
  let allowed = 0
  let want = (): void => {}
  const reports: string[] = []
  const admission = {
    resize: (slots: number) => {
      allowed = slots
    },
    onWant: (listener: () => void) => {
      want = listener
    },
    get state() {
      return { slots: allowed, sessions: 0, ...load }
    },
  }
  const clock = { now: () => 1_800_000_000_000 + time.now() }
  const report = (message: string): void => {
    reports.push(message)
  }
  const shared = await shareSlots({ database, clock, timers: time, admission, report }, total)
  return { load, allowed: () => allowed, want: () => want(), shared, reports }
}

const openFresh = async (engine: TestEngine): Promise<Database> => {
  const database = engine.use(await openDatabase({ url: await engine.readyDatabaseUrl(), report: () => {} }))
  await migrate(database, migrations)
  return database
}

describe('the part of a gateway', () => {
  it('is never more than there is in all, leaves nobody without, and gives each what it wants while that is fair', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.array(fc.nat(300), { minLength: 1, maxLength: 12 }),
        (total, wants) => {
          const parts = wants.map((want, index) => fairPart(total, want, wants.toSpliced(index, 1)))
          const sum = parts.reduce((a, b) => a + b, 0)
          if (total >= wants.length) assert.ok(sum <= total, `${parts} of ${total}`)
          for (const [index, part] of parts.entries()) {
            assert.ok(part >= 1)
            const equal = Math.floor(total / wants.length)
            assert.ok(part >= Math.min(wants[index] ?? 0, equal), `${parts} for ${wants} of ${total}`)
          }
        },
      ),
    )
  })

  it('follows what is wanted', () => {
    assert.deepEqual([fairPart(64, 100, [100]), fairPart(64, 100, [0]), fairPart(64, 0, [100])], [32, 63, 1])
    assert.deepEqual([fairPart(10, 0, [0]), fairPart(10, 4, [20, 20]), fairPart(1, 5, [5])], [5, 3, 1])
  })
})

forEachEngine((engine) => {
  describe('slots that gateways share', () => {
    it('go to who needs them, and never are more than there are', async () => {
      const database = await openFresh(engine)
      const time = new VirtualTime()
      const busy = await join(database, time, 8, { held: 0, waiting: 40 })
      const other = await join(database, time, 8)
      /** Beats need the database, so that time goes on in steps until it is as it should be. */
      const settleOn = (busySlots: number, otherSlots: number): Promise<unknown> =>
        until(`the gateways have ${busySlots} and ${otherSlots} slots`, () => {
          time.pass(gatewayBeatsApartMs)
          assert.ok(busy.allowed() + other.allowed() <= 8, 'more slots than there are')
          return busy.allowed() === busySlots && other.allowed() === otherSlots
        })
      await settleOn(7, 1)
      // What is taken stays, so that the other one has to wait for it.
      busy.load.held = 7
      busy.load.waiting = 10
      other.load.waiting = 10
      other.want()
      await until('each knows what the other does', () => {
        time.pass(gatewayBeatsApartMs)
        return other.shared.state.active >= 7
      })
      assert.deepEqual([busy.allowed(), other.allowed()], [7, 1])
      busy.load.held = 3
      await settleOn(4, 4)
      assert.deepEqual(busy.shared.state, { slot: 4, slots: 8, active: 3, leaseSeconds: gatewayLeaseMs / 1000 })
      await busy.shared.stop()
      await until('what a gateway gave back is there for the other', () => {
        time.pass(gatewayBeatsApartMs)
        return other.allowed() === 8
      })
      await other.shared.stop()
      assert.deepEqual(await database.reader.selectFrom('download_gateways').selectAll().execute(), [])
    })

    it('come back when a gateway dies', async () => {
      const database = await openFresh(engine)
      const deadTime = new VirtualTime()
      const dead = await join(database, deadTime, 4, { held: 3, waiting: 9 })
      assert.equal(dead.allowed(), 4)
      const time = new VirtualTime()
      const heir = await join(database, time, 4, { held: 0, waiting: 9 })
      assert.equal(heir.allowed(), 0)
      await until('the lease of the dead gateway has ended', () => {
        time.pass(gatewayBeatMs)
        return heir.allowed() === 4
      })
      assert.ok(time.now() >= gatewayLeaseMs - gatewayBeatMs)
      await heir.shared.stop()
    })

    it('are given out by nobody who cannot renew its lease', async () => {
      const url = await engine.readyDatabaseUrl()
      const database = await openDatabase({ url, report: () => {} })
      await migrate(database, migrations)
      const time = new VirtualTime()
      const gateway = await join(database, time, 4)
      assert.equal(gateway.allowed(), 4)
      await database[Symbol.asyncDispose]()
      time.pass(gatewayLeaseMs)
      assert.equal(gateway.allowed(), 0)
      await until('the failure is reported', () => gateway.reports.length > 0)
      await gateway.shared.stop()
    })
  })
})
