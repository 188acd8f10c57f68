import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { setImmediate as immediate } from 'node:timers/promises'
import { reclaim } from '../../src/content/reclaim/reclaim.ts'
import { abandonRawTransfer } from '../../src/features/transfers/whole/raw-transfer.ts'
import { timestamp } from '../../src/kernel/clock.ts'
import { newId } from '../../src/kernel/ids.ts'
import { uploadLeaseMs, uploadLifetimeMs } from '../../src/kernel/limits/transfers.ts'
import { removalPauseFirstMs, stagingGraceMs } from '../../src/kernel/limits/upkeep.ts'
import { minute } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { chunked, digestOf, forgetFile } from '../harness/inspection.ts'
import { leftBehind } from '../harness/left-behind.ts'
import { startService } from '../harness/service.ts'
import { base, graceMs, nobody, storageSite } from '../harness/storage-site.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = storageSite(engine)
  const { fresh, ask, put, stored, openSession, cancelSession, sendPart, sendContent, pass, digestsHeld } = site
  const { letGo, drop, reclaimOnce, plantTransfer, plantStaged, stagedOf } = leftBehind(engine, site)

  describe('upkeep', () => {
    it('cancels expired sessions that nobody sends to, and releases them after the grace period', async () => {
      const text = fresh('expires')
      const id = await openSession(text)
      const busy = await openSession(text)
      await sendPart(busy, text)
      const claims = async (): Promise<unknown> =>
        await site.inspection.database.reader
          .selectFrom('claims')
          .select('state')
          .where('id', 'in', [id, busy])
          .orderBy('id')
          .execute()
      const state = async (of: string): Promise<string> => (await ask({ path: `${base}/uploads/${of}` })).json.status
      await pass(uploadLifetimeMs - minute)
      await site.inspection.upkeep()
      assert.deepEqual([await state(id), await state(busy)], ['pending', 'pending'])
      await pass(2 * minute)
      const expired = await sendContent(id, text)
      assert.deepEqual([expired.status, expired.json.code], [409, 'upload_state'])
      await site.inspection.database.transaction(async (tx) => {
        const turn_until = timestamp(site.service.clock.now() + uploadLeaseMs)
        await tx.updateTable('uploads').set({ turn_holder: nobody, turn_until }).where('id', '=', busy).execute()
      })
      await site.inspection.upkeep()
      assert.deepEqual([await state(id), await state(busy)], ['cancelled', 'pending'])
      // Nothing of the first came, so that its room is free at once.
      assert.deepEqual(await claims(), [{ state: 'pending' }])
      await pass(uploadLeaseMs + 1)
      await site.inspection.upkeep()
      assert.equal(await state(busy), 'cancelled')
      assert.deepEqual(await claims(), [{ state: 'retired' }])
      await pass(graceMs + minute)
      await site.inspection.upkeep()
      assert.deepEqual(await claims(), [])
      assert.equal((await site.inspection.sums()).retired, 0)
    })

    it('keeps what came of a cancelled session for the grace period, and its record for seven days', async () => {
      const { pending, retired } = await site.inspection.sums()
      const id = await openSession('twelve bytes')
      await sendPart(id, 'twelve bytes')
      await cancelSession(id)
      const sums = await site.inspection.sums()
      assert.deepEqual([sums.pending, sums.retired], [pending, retired + 12])
      await pass(graceMs - minute)
      await site.inspection.upkeep()
      assert.equal((await site.inspection.sums()).retired, retired + 12)
      await pass(2 * minute)
      await site.inspection.upkeep()
      assert.equal((await site.inspection.sums()).retired, 0)
      assert.equal((await cancelSession(id)).json.status, 'cancelled')
      await pass(uploadLifetimeMs - graceMs - 5 * minute)
      await site.inspection.upkeep()
      assert.equal((await ask({ path: `${base}/uploads/${id}` })).json.status, 'cancelled')
      await pass(10 * minute)
      await site.inspection.upkeep()
      assert.equal((await ask({ path: `${base}/uploads/${id}` })).status, 404)
    })

    it('ends transfers whose process died, once their lease has lapsed, and leaves live ones alone', async () => {
      const { pending } = await site.inspection.sums()
      const dead = await plantTransfer(1_000)
      await site.inspection.upkeep()
      assert.equal((await site.inspection.sums()).pending, pending + 1_000)
      await pass(uploadLeaseMs + 1)
      const living = await plantTransfer(2_000)
      await site.inspection.upkeep()
      assert.equal((await site.inspection.sums()).pending, pending + 2_000)
      assert.deepEqual([await stagedOf(dead.holder), await stagedOf(living.holder)], [1, 1])
      await pass(stagingGraceMs)
      // Its holder renewed the lease meanwhile.
      await site.inspection.database.transaction(async (tx) => {
        const turn_until = timestamp(site.service.clock.now() + uploadLeaseMs)
        await tx.updateTable('uploads').set({ turn_until }).where('id', '=', living.row.id).execute()
      })
      await site.inspection.upkeep()
      assert.deepEqual([await stagedOf(dead.holder), await stagedOf(living.holder)], [0, 1])
      await abandonRawTransfer(living)
      assert.equal((await site.inspection.sums()).pending, pending)
      await site.inspection.upkeep()
      assert.equal(await stagedOf(living.holder), 0)
    })

    it('sweeps what was staged long ago and belongs to nobody, not young ones', async () => {
      const id = newId(site.service.clock.now())
      await plantStaged(id)
      await pass(stagingGraceMs - minute)
      await site.inspection.upkeep()
      assert.equal(await stagedOf(id), 1)
      await pass(minute)
      await site.inspection.upkeep()
      assert.equal(await stagedOf(id), 0)
    })

    it('leaves alone what was named a moment ago, though by its store it is old', async () => {
      // Not what made the others: it never goes back to the time of this service.
      const time = site.service.clock.now().toString(16).padStart(12, '0')
      const id = `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
      await plantStaged(id, 2 * stagingGraceMs)
      await site.inspection.upkeep()
      assert.equal(await stagedOf(id), 1)
      await pass(stagingGraceMs)
      await site.inspection.upkeep()
      assert.equal(await stagedOf(id), 0)
    })

    it('is done by a worker without being asked', async () => {
      const { pending } = await site.inspection.sums()
      const text = fresh('forgotten')
      const path = fresh('dropped')
      await stored(path, text)
      await drop(path)
      await openSession('cancelled soon').then(cancelSession)
      const dead = await plantTransfer(500)
      await pass(graceMs + minute)
      const worker = await startService(engine, {
        onDisk: true,
        on: site.service,
        roles: { gateway: null, worker: true },
      })
      try {
        await until('the bytes are gone', async () => !(await site.inspection.stored()).includes(digestOf(text)))
        await until('what was staged is gone', async () => (await stagedOf(dead.holder)) === 0)
        await until('nothing waits', async () => (await site.inspection.findings()).waiting.length === 0)
        const sums = await site.inspection.sums()
        assert.deepEqual([sums.pending, sums.retired], [pending, 0])
      } finally {
        await worker.stop()
      }
    })
  })

  describe('reclaim', () => {
    it('removes bytes that nobody claims, and their row', async () => {
      const text = fresh('unclaimed')
      await stored('unclaimed', text)
      await drop('unclaimed')
      assert.ok((await site.inspection.stored()).includes(digestOf(text)))
      assert.equal((await site.inspection.findings()).waiting.length, 1)
      await site.inspection.inOrder()
      assert.equal(await reclaimOnce(), 1)
      assert.equal(await reclaimOnce(), 0)
      assert.ok(!(await site.inspection.stored()).includes(digestOf(text)))
      const rows = site.inspection.database.reader
        .selectFrom('blobs')
        .select('sha256')
        .where('sha256', '=', digestOf(text))
      assert.deepEqual(await rows.execute(), [])
      assert.deepEqual((await site.inspection.findings()).waiting, [])
      await stored('unclaimed', text)
      assert.equal((await ask({ path: `${base}/raw/unclaimed` })).text, text)
    })

    it('never removes bytes that another path, an older revision or a session still holds', async () => {
      const text = fresh('shared')
      const holds = async (): Promise<boolean> => {
        await reclaimOnce()
        await site.inspection.inOrder()
        return (await site.inspection.stored()).includes(digestOf(text))
      }
      const [one, two, three] = [fresh('one'), fresh('two'), fresh('three')]
      await stored(one, text)
      await stored(two, text)
      await drop(one)
      assert.ok(await holds())
      assert.equal((await ask({ path: `${base}/raw/${two}` })).text, text)
      await stored(three, text)
      await stored(three, 'replaced')
      await drop(two)
      assert.ok(await holds())
      const session = await openSession(text)
      await sendPart(session, text)
      // Both revisions of the third path go.
      const rows = await site.inspection.database.reader
        .selectFrom('asset_revisions')
        .select('artifact_id')
        .where('path', '=', three)
        .where('revision', '=', 1)
        .execute()
      await drop(three)
      for (const { artifact_id } of rows)
        await site.inspection.database.transaction(async (tx) => {
          await forgetFile(tx, artifact_id)
          await letGo(tx, artifact_id)
        })
      assert.ok(await holds())
      await cancelSession(session)
      assert.ok(await holds())
      await pass(graceMs + minute)
      await site.inspection.upkeep()
      assert.ok(!(await holds()))
    })

    it('tries a removal again that failed, and after a while', async () => {
      const text = fresh('slow')
      const path = fresh('slow')
      await stored(path, text)
      await drop(path)
      const failing = { ...site.inspection.store, delete: () => Promise.reject(new Error('died here')) }
      const reports: string[] = []
      const report = (message: string): void => void reports.push(message)
      assert.equal(await reclaim({ ...site.inspection, store: failing, report }), 0)
      assert.match(reports.join(), new RegExp(`${digestOf(text)} could not be removed`))
      assert.equal(await reclaimOnce(), 0)
      assert.ok((await site.inspection.stored()).includes(digestOf(text)))
      await pass(removalPauseFirstMs)
      assert.equal(await reclaimOnce(), 1)
      assert.ok(!(await site.inspection.stored()).includes(digestOf(text)))
      await stored(path, text)
    })

    it('does not lose bytes that are uploaded again and again while it removes them', async () => {
      const text = `contested ${'x'.repeat(10_000)}`
      let running = true
      const reclaiming = [1, 2].map(async () => {
        let removed = 0
        while (running) {
          removed += await reclaimOnce()
          // On SQLite a look at an empty queue never leaves the microtasks.
          await immediate()
        }
        return removed
      })
      const check = async (path: string): Promise<void> => {
        const got = await ask({ path })
        assert.equal(got.status, 200, got.text)
        assert.ok(got.text === text)
      }
      const rawWriter = async (name: string): Promise<void> => {
        for (let round = 0; round < 15; round++) {
          const path = `${name}/${round % 2}`
          const headers = round % 3 === 0 ? {} : { 'x-checksum-sha256': digestOf(text) }
          const told = await put(path, round % 2 === 0 ? text : chunked(text), headers)
          assert.equal(told.status, 201, told.text)
          await check(`${base}/raw/${path}`)
          await drop(path)
        }
      }
      const sessionWriter = async (): Promise<void> => {
        for (let round = 0; round < 10; round++) {
          const id = await openSession(text)
          const told = await sendContent(id, text)
          assert.equal(told.status, 200, told.text)
          await check(`${base}/artifacts/${id}/content`)
          await site.inspection.database.transaction(async (tx) => {
            await forgetFile(tx, id)
            await letGo(tx, id)
          })
        }
      }
      try {
        await Promise.all([rawWriter(fresh('w')), rawWriter(fresh('w')), sessionWriter()])
        await stored('survivor', text)
      } finally {
        running = false
      }
      const [one = 0, two = 0] = await Promise.all(reclaiming)
      assert.ok(one + two > 0, 'reclaim had something to remove')
      await reclaimOnce()
      await check(`${base}/raw/survivor`)
      await site.inspection.inOrder()
      assert.deepEqual(await site.inspection.stored(), await digestsHeld())
    })
  })
})
