import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { lockRetired } from '../../src/content/claims/claims.ts'
import { reclaim } from '../../src/content/reclaim/reclaim.ts'
import { settleDeletions } from '../../src/features/lifecycle/deletion/jobs.ts'
import { cleanupGraceHoursDefault } from '../../src/kernel/limits/transfers.ts'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'
import { isRefused, lfsSite, linesOf, newObject } from '../harness/lfs.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const base = '/api/v1/repositories/releases/lfs'

forEachEngine((engine) => {
  const site = lfsSite(engine, { roles: { gateway: 'api', worker: false } })
  const { ask, expect, push, pull, action, follow, isMissing, batch } = site
  let inspection: Inspection
  before(async () => {
    inspection = await openInspection(site.service)
  })
  after(() => inspection.close())

  const listed = async (path = '/objects', query = '') => (await expect({ path: base + path + query }, 200)).json
  const remove = (oid: string, credential = site.key) =>
    ask({ method: 'DELETE', path: `${base}/objects/${oid}`, credential })
  const restore = (oid: string) => ask({ method: 'POST', path: `${base}/deleted-objects/${oid}/restore` })
  const usage = async () => {
    const { published_bytes, pending_bytes, retired_bytes } = await inspection.database.reader
      .selectFrom('repositories')
      .selectAll()
      .where('id', '=', 'releases')
      .executeTakeFirstOrThrow()
    return { published: published_bytes, pending: pending_bytes, retired: retired_bytes }
  }

  it('are listed with size, times and who pushed them, in pages of either order', async () => {
    const objects = [await push(newObject(11).bytes), await push(newObject(22).bytes), await push(newObject(33).bytes)]
    const { items, next } = await listed()
    assert.equal(next, null)
    assert.deepEqual(
      items.map(({ oid, size, actorName }: { oid: string; size: string; actorName: string }) => [oid, size, actorName]),
      objects.map(({ oid, size }) => [oid, String(size), 'owner']),
    )
    for (const { pushedAt, usedAt } of items) assert.ok(usedAt >= pushedAt)
    const first = await listed('/objects', '?order=desc&limit=2')
    const second = await listed('/objects', `?order=desc&limit=2&after=${first.next}`)
    const oids = [...first.items, ...second.items].map(({ oid }: { oid: string }) => oid)
    assert.deepEqual(oids, objects.map(({ oid }) => oid).toReversed())
  })

  it('tell when they were last asked for, to the hour', async () => {
    const { oid, size } = await push(newObject().bytes)
    const usedAt = async (): Promise<string> => {
      const { items } = await listed('/objects', '?order=desc&limit=1')
      assert.equal(items[0].oid, oid)
      return items[0].usedAt
    }
    const pushed = await usedAt()
    site.service.clock.advance(hour / 2)
    await batch('download', [{ oid, size }])
    site.service.clock.advance(hour)
    const before = new Date(site.service.clock.now()).toISOString()
    await batch('download', [{ oid, size }])
    await until('it is known to be used', async () => (await usedAt()) >= before)
    assert.ok(pushed < before)
  })

  describe('an object that is deleted', () => {
    it('is there for nobody, and stays until its grace is over', async () => {
      const { bytes, ...object } = newObject(40_000)
      await push(bytes)
      const download = await action('download', object)
      const before = await usage()
      assert.equal((await remove(object.oid)).status, 204)
      await isMissing(object)
      isRefused(await follow(download), 404, /no object/)
      assert.equal((await batch('upload', [object])).json.objects[0].actions.upload.expires_in > 0, true)
      const { items } = await listed('/deleted-objects')
      const found = items.find(({ oid }: { oid: string }) => oid === object.oid)
      assert.ok(found.restorableUntil > found.deletedAt)
      assert.equal((await usage()).retired, before.retired + 40_000)
      assert.equal((await remove(object.oid)).status, 404)
      assert.equal((await restore(object.oid)).json.oid, object.oid)
      assert.ok((await pull(object)).equals(bytes))
      assert.deepEqual(await usage(), before)
      await inspection.inOrder()
    })

    it('goes for good when its grace is over, with its bytes', async () => {
      const { bytes, ...object } = newObject(60_000)
      await push(bytes)
      await remove(object.oid)
      site.service.clock.advance(cleanupGraceHoursDefault * hour + 1)
      await settleDeletions({ ...inspection, cleanupGraceMs: cleanupGraceHoursDefault * hour })
      await reclaim(inspection)
      assert.ok(!(await inspection.stored()).includes(object.oid))
      assert.equal((await restore(object.oid)).status, 404)
      assert.deepEqual((await listed('/deleted-objects')).items, [])
      await push(bytes)
      assert.ok((await pull(object)).equals(bytes))
      await inspection.inOrder()
    })

    it('may be pushed again, and then there is nothing to bring back', async () => {
      const { bytes, ...object } = newObject(30_000)
      await push(bytes)
      await remove(object.oid)
      await push(bytes)
      assert.equal((await restore(object.oid)).json.oid, object.oid)
      await remove(object.oid)
      // Twice deleted: the last one comes back.
      assert.equal((await restore(object.oid)).status, 200)
      assert.ok((await pull(object)).equals(bytes))
      await inspection.inOrder()
    })

    if (engine.name === 'postgres')
      it('comes back beside whoever holds several of its claims, in the order of their ids', async () => {
        const { bytes, ...object } = newObject(20_000)
        for (let times = 0; times < 2; times++) {
          await push(bytes)
          await remove(object.oid)
          site.service.clock.advance(1_000)
        }
        const { database } = inspection
        const ofObject = database.reader.selectFrom('lfs_objects').select('id').where('sha256', '=', object.oid)
        const [first = '', second = ''] = (await ofObject.orderBy('id').execute()).map(({ id }) => id)
        const restored = await database.transaction(async (tx) => {
          assert.ok(await lockRetired(tx, first))
          const asked = restore(object.oid)
          await until('the restore waits', async () => {
            const waiting = sql`select 1 from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`
            return (await waiting.execute(tx)).rows.length > 0
          })
          // It holds nothing that comes later: had it begun with the second, both would wait for ever.
          await sql`set local lock_timeout = '500ms'`.execute(tx)
          assert.ok(await lockRetired(tx, second))
          return { asked }
        })
        assert.equal((await restored.asked).status, 200)
        assert.ok((await pull(object)).equals(bytes))
        await inspection.inOrder()
      })

    it('is deleted by service keys alone', async () => {
      const { oid } = await push(newObject().bytes)
      const told = await remove(oid, site.owner.token)
      assert.equal(told.status, 403)
      assert.match(told.json.detail, /service keys/)
    })
  })

  it('stand in the journal when they come, go and come back', async () => {
    const { oid } = await push(newObject().bytes)
    await remove(oid)
    await restore(oid)
    const lines = (await linesOf(site.service, 'releases')).filter(({ detail }) => detail === oid)
    assert.deepEqual(
      lines.map(({ action }) => action),
      ['lfs.push', 'lfs.delete', 'lfs.restore'],
    )
  })

  it('keep their repository from being deleted, and from having nothing', async () => {
    await push(newObject().bytes)
    const told = await expect({ path: '/api/v1/repositories/releases' }, 200)
    assert.ok(told.json.inUse.includes('lfs'), told.text)
    const removal = { method: 'DELETE', path: '/api/v1/repositories/releases', credential: site.service.recoveryKey }
    assert.equal((await ask(removal)).json.code, 'repository_not_empty')
  })
})
