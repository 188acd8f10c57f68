import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, it } from 'node:test'
import type { Database } from '../../src/database/database.ts'
import { settleDeletions } from '../../src/features/lifecycle/deletion/jobs.ts'
import { settleUploads } from '../../src/features/transfers/uploads/jobs.ts'
import { cleanupGraceHoursDefault } from '../../src/kernel/limits/transfers.ts'
import { hour } from '../../src/kernel/units.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { digestOf } from '../harness/inspection.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

/** A worker that stands still between seeing what is to be done and doing it: meanwhile people go on. */
forEachEngine((engine) => {
  let c: Catalog
  beforeEach(async () => {
    c = await Catalog.open(engine)
  })
  afterEach(() => c.close())

  const graceMs = cleanupGraceHoursDefault * hour
  type Deps = Parameters<typeof settleDeletions>[0] & Parameters<typeof settleUploads>[0]

  const settleAfter = async (settle: (deps: Deps) => Promise<void>, meanwhile: () => Promise<unknown>) => {
    const { database, store, clock } = c.inspection
    let stands = 0
    const slow: Database = Object.create(database, {
      reader: { value: database.reader },
      transaction: {
        value: async (...given: Parameters<Database['transaction']>) => {
          if (stands++ === 0) await meanwhile()
          return database.transaction(...given)
        },
      },
    })
    await settle({ database: slow, store, clock, cleanupGraceMs: graceMs, report: assert.fail })
    assert.ok(stands > 0, 'there was something to be done')
  }
  const restore = (id: string) => c.expect({ method: 'POST', path: `/deleted-artifacts/${id}/restore` }, 200)

  it('keeps what was brought back and deleted again for as long as was told', async () => {
    const id = await c.published('precious')
    await c.removed(id)
    await c.pass(graceMs + hour)
    let until = 0
    await settleAfter(settleDeletions, async () => {
      await restore(id)
      until = Date.parse((await c.removed(id)).restorableUntil)
    })
    await c.pass(until - c.service.clock.now() - hour)
    await c.inspection.upkeep()
    await restore(id)
    assert.equal((await c.expect({ path: `/artifacts/${id}/content` }, 200)).text, 'precious')
    await c.inspection.inOrder()
  })

  it('keeps what was given a longer grace period, and no longer than that', async () => {
    const id = await c.published('precious')
    await c.removed(id)
    await c.pass(graceMs + hour)
    const json = { expectedRevision: 0, graceHours: 1_000 }
    await settleAfter(settleDeletions, () =>
      c.expect({ method: 'PUT', path: '/cleanup', credential: c.keeper, json }, 200),
    )
    await restore(id)
    await c.removed(id)
    await c.pass(1_000 * hour)
    await settleAfter(settleDeletions, () => Promise.resolve())
    assert.deepEqual((await c.get('/deleted-artifacts')).items, [])
    await c.inspection.inOrder()
  })

  it('leaves the session of whoever was enabled again', async () => {
    const json = { name: 'x', size: '5', sha256: digestOf('hello'), labels: [], metadata: {} }
    const headers = { 'idempotency-key': 'one' }
    const { id } = (await c.expect({ path: '/uploads', headers, json }, 201)).json
    const enable = (enabled: 0 | 1) =>
      inDatabase(c.service, (q) => q.updateTable('accounts').set({ enabled }).where('id', '=', c.writer.id).execute())
    await enable(0)
    await settleAfter(settleUploads, () => enable(1))
    assert.equal((await c.get(`/uploads/${id}`)).status, 'pending')
    await enable(0)
    await settleAfter(settleUploads, () => Promise.resolve())
    await enable(1)
    assert.equal((await c.get(`/uploads/${id}`)).status, 'cancelled')
  })
})
