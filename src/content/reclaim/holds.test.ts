import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { Catalog } from '../../../test/harness/catalog.ts'
import { closeConnections } from '../../../test/harness/client.ts'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { until } from '../../../test/harness/until.ts'
import { timestamp } from '../../kernel/clock.ts'
import { reclaimHoldMs, removalPauseFirstMs } from '../../kernel/limits/upkeep.ts'
import { VirtualTime } from '../../kernel/virtual-time.suite.ts'
import { heldBack, withHold } from './holds.ts'
import { reclaim } from './reclaim.ts'

after(closeConnections)

forEachEngine((engine) => {
  describe('holding reclaim back', () => {
    let catalog: Catalog
    beforeEach(async () => {
      catalog = await Catalog.open(engine)
    })
    afterEach(() => catalog.close())

    const timers = new VirtualTime()
    const held = () => ({ ...catalog.inspection, timers })
    const waitingForLocks = async (): Promise<number> => {
      const { rows } = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(catalog.inspection.database.reader)
      return rows.length
    }
    const stored = () => catalog.inspection.stored()
    /** A file whose bytes nobody holds any more. */
    const givenUp = async (): Promise<void> => {
      await catalog.remove(await catalog.published())
      await catalog.inspection.upkeep(0)
    }

    it('keeps all bytes that are stored when it begins, and lets them go when it ends', async () => {
      await withHold(held(), 'test', async (check) => {
        await givenUp()
        await givenUp()
        assert.equal((await stored()).length, 2)
        check()
      })
      await catalog.inspection.upkeep(0)
      assert.deepEqual(await stored(), [])
      await catalog.inspection.inOrder()
    })

    it('ends what was given up before: no state that is taken meanwhile knows of it', async () => {
      await givenUp()
      const { inspection } = catalog
      await catalog.remove(await catalog.published('given up'))
      const failing = { ...inspection.store, delete: () => Promise.reject(new Error('not yet')) }
      await withHold(held(), 'test', () => inspection.upkeep(0))
      assert.equal(await reclaim({ ...inspection, store: failing, report: () => {} }), 0)
      const [given] = await stored()
      await withHold(held(), 'test', async () => {
        await givenUp()
        catalog.service.clock.advance(removalPauseFirstMs)
        assert.equal(await reclaim(inspection), 1)
        assert.ok(!(await stored()).includes(String(given)))
        assert.equal((await stored()).length, 1)
      })
    })

    it('is over when its holder went silent, which learns of it', async () => {
      const { inspection, service } = catalog
      await inspection.database.transaction((tx) =>
        tx
          .insertInto('reclaim_holds')
          .values({ id: 'dead', purpose: 'test', ends_at: timestamp(service.clock.now() + reclaimHoldMs) })
          .execute(),
      )
      await givenUp()
      assert.equal((await stored()).length, 1)
      service.clock.advance(reclaimHoldMs)
      await catalog.inspection.upkeep(0)
      assert.deepEqual(await stored(), [])
      const rows = await inspection.database.reader.selectFrom('reclaim_holds').selectAll().execute()
      assert.deepEqual(rows, [])
    })

    it('is renewed while it is needed, and says so when it was not there all the time', async () => {
      const { database } = catalog.inspection
      const end = async (): Promise<string | undefined> =>
        (await database.reader.selectFrom('reclaim_holds').select('ends_at').executeTakeFirst())?.ends_at
      const pass = (): void => {
        catalog.service.clock.advance(reclaimHoldMs / 4)
        timers.pass(reclaimHoldMs / 4)
      }
      const holding = withHold(held(), 'test', async (check) => {
        const first = await end()
        pass()
        await until('it is renewed', async () => (await end()) !== first)
        check()
        await database.transaction((tx) => tx.deleteFrom('reclaim_holds').execute())
        await until('it is found lost', () => {
          pass()
          try {
            check()
            return false
          } catch {
            return true
          }
        })
        check()
      })
      await assert.rejects(holding, { name: 'HoldLost' })
    })

    it('begins when no transaction of reclaim is left that saw none', async () => {
      const { database, clock } = catalog.inspection
      const events: string[] = []
      const { promise: looked, resolve: tellLooked } = Promise.withResolvers<void>()
      const { promise: mayEnd, resolve: letEnd } = Promise.withResolvers<void>()
      const marking = database.transaction(async (tx) => {
        assert.equal(await heldBack(tx, clock.now()), false)
        tellLooked()
        await mayEnd
        events.push('marked')
      })
      await looked
      const holding = withHold(held(), 'test', async () => {
        events.push('held')
        await database.transaction(async (tx) => assert.equal(await heldBack(tx, clock.now()), true))
      })
      // On SQLite it waits for its turn in any case.
      if (engine.name === 'postgres') await until('it waits at the gate', async () => (await waitingForLocks()) === 1)
      letEnd()
      await Promise.all([marking, holding])
      assert.deepEqual(events, ['marked', 'held'])
    })
  })
})
