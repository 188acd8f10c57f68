import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, it } from 'node:test'
import { deletedArtifactsKeptMs } from '../../src/kernel/limits/lifecycle.ts'
import { hour } from '../../src/kernel/units.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { chunked, digestOf } from '../harness/inspection.ts'
import { newFile, openUpload, sendContent } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'

const repository = 'one'
const base = `/api/v1/repositories/${repository}`

after(closeConnections)

interface Usage {
  readonly publishedBytes: string
  readonly retiredBytes: string
  readonly reservedBytes: string
  readonly state: string
  readonly graceHours: number
  readonly nextReleaseAt: string
}

forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine)
  })
  after(() => catalog.inspection.inOrder())
  after(() => catalog.close())
  afterEach(() => catalog.inspection.sums())

  const remove = (id: string, expectedAnnotationRevision = 0, credential = catalog.keeper): Promise<Told> =>
    catalog.service.ask({
      method: 'DELETE',
      path: `${base}/artifacts/${id}`,
      credential,
      json: { expectedAnnotationRevision },
    })
  const restore = (id: string, credential = catalog.keeper): Promise<Told> =>
    catalog.service.ask({ method: 'POST', path: `${base}/artifacts/${id}/restore`, credential })
  const get = (path: string, status = 200, credential = catalog.writer.token): Promise<Told> =>
    expectAnswer(catalog.service, { path: `${base}${path}`, credential }, status)
  const usage = async (): Promise<Usage> => (await get('/storage/usage', 200, catalog.keeper)).json
  const at = (ms: number): string => new Date(catalog.service.clock.now() + ms).toISOString()
  const seconds = (time: string): number => Math.round(Date.parse(time) / 1000)

  describe('deleting a file', () => {
    it('hides it at once and everywhere, keeps its bytes reserved, and says until when it can be brought back', async () => {
      const id = await catalog.published()
      const before = await usage()
      const check = await get(`/artifacts/${id}/deletion`, 200, catalog.keeper)
      const record = (await get(`/artifacts/${id}`)).json
      // It may be in memory now.
      for (let again = 0; again < 2; again++) await get(`/artifacts/${id}/content`)
      assert.deepEqual(check.json, {
        id,
        name: record.descriptor.name,
        size: record.descriptor.size,
        publishedAt: check.json.publishedAt,
        annotationRevision: 0,
        blockers: [],
      })
      const told = await catalog.removed(id)
      assert.deepEqual(told, { id, outcome: 'deleted', blockers: [], restorableUntil: told.restorableUntil })
      assert.ok(Math.abs(seconds(told.restorableUntil) - seconds(at(24 * hour))) <= 2)
      await get(`/artifacts/${id}`, 404)
      await get(`/artifacts/${id}/content`, 404)
      await get(`/artifacts/${id}/deletion`, 404, catalog.keeper)
      const listed = (await get('/artifacts?limit=100')).json.items.map((item: { id: string }) => item.id)
      assert.ok(!listed.includes(id))
      const asset = { path: 'late.txt', artifactId: id, expectedRevision: 0 }
      await expectAnswer(
        catalog.service,
        { method: 'PUT', path: `${base}/asset`, credential: catalog.writer.token, json: asset },
        404,
      )
      const size = Number(record.descriptor.size)
      const now = await usage()
      assert.equal(Number(now.publishedBytes), Number(before.publishedBytes) - size)
      assert.equal(Number(now.retiredBytes), Number(before.retiredBytes) + size)
      assert.equal(now.reservedBytes, before.reservedBytes)
      assert.equal(now.graceHours, 24)
      assert.ok(now.nextReleaseAt <= told.restorableUntil)
      assert.deepEqual(await catalog.actions(id), ['artifact.publish', 'artifact.delete'])
    })

    it('again is harmless and says so; what never was is 404', async () => {
      const id = await catalog.published()
      const first = await catalog.removed(id)
      assert.deepEqual(await catalog.removed(id), { ...first, outcome: 'already_deleted' })
      assert.deepEqual(await catalog.actions(id), ['artifact.publish', 'artifact.delete'])
      assert.equal((await remove(randomUUID())).status, 404)
      const session = await catalog.service.ask({
        path: `${base}/uploads`,
        credential: catalog.writer.token,
        headers: { 'idempotency-key': randomUUID() },
        json: newFile('pending', 'pending').descriptor,
      })
      assert.equal((await remove(session.json.id)).status, 404)
    })

    it('is refused while a path shows it or showed it, and when its annotations are others', async () => {
      const put = (body: string): Promise<Told> =>
        catalog.service.ask({ method: 'PUT', path: `${base}/raw/shown.txt`, credential: catalog.writer.token, body })
      const { id } = (await put('first')).json.artifact
      for (const _ of ['shown', 'showed']) {
        assert.deepEqual((await get(`/artifacts/${id}/deletion`, 200, catalog.keeper)).json.blockers, ['asset_history'])
        assert.deepEqual(await catalog.removed(id), {
          id,
          outcome: 'protected',
          blockers: ['asset_history'],
          restorableUntil: null,
        })
        await put('second')
      }
      const other = await catalog.published()
      const told = await remove(other, 1)
      assert.deepEqual(told.json, { id: other, outcome: 'changed', blockers: [], restorableUntil: null })
      await get(`/artifacts/${other}`)
    })

    it('and pointing a path at it exclude each other, whoever is first', async () => {
      for (let round = 0; round < 8; round++) {
        const id = await catalog.published()
        const json = { path: `race/${id}`, artifactId: id, expectedRevision: 0 }
        const [deleted, shown] = await Promise.all([
          remove(id),
          catalog.service.ask({ method: 'PUT', path: `${base}/asset`, credential: catalog.writer.token, json }),
        ])
        assert.equal(deleted.status, 200, deleted.text)
        assert.deepEqual(
          [deleted.json.outcome, shown.status],
          shown.status === 200 ? ['protected', 200] : ['deleted', 404],
          shown.text,
        )
      }
    })

    it('frees the bytes once the grace period is over, and tells the journal', async () => {
      const content = 'to be removed for good'
      const [first, second] = [await catalog.published(content), await catalog.published(content)]
      await catalog.removed(first)
      await catalog.pass(25 * hour)
      await catalog.inspection.upkeep()
      assert.ok((await catalog.inspection.stored()).includes(digestOf(content)), 'another file holds the same bytes')
      await get(`/artifacts/${second}/content`)
      assert.deepEqual(await catalog.removed(first), {
        id: first,
        outcome: 'already_deleted',
        blockers: [],
        restorableUntil: null,
      })
      await catalog.removed(second)
      await catalog.pass(25 * hour)
      await catalog.inspection.upkeep()
      assert.ok(!(await catalog.inspection.stored()).includes(digestOf(content)))
      assert.deepEqual(await catalog.actions(second), ['artifact.publish', 'artifact.delete', 'bytes.reclaim'])
      const told = await inDatabase(catalog.service, (q) =>
        q
          .selectFrom('journal')
          .select(['detail', 'actor'])
          .where('artifact_id', '=', second)
          .where('action', '=', 'bytes.reclaim')
          .executeTakeFirstOrThrow(),
      )
      const size = String(content.length)
      assert.deepEqual(
        { ...told },
        { detail: JSON.stringify({ sha256: digestOf(content), size }), actor: 'system:reclaim' },
      )
      await catalog.pass(deletedArtifactsKeptMs + 1000)
      await catalog.inspection.upkeep()
      assert.equal((await remove(second)).status, 404, 'it is known no more')
    })
  })

  describe('bringing a file back', () => {
    it('gives all of it back, as often as it is asked', async () => {
      const id = await catalog.published()
      const record = (await get(`/artifacts/${id}`)).json
      const { bytes } = await get(`/artifacts/${id}/content`)
      const before = await usage()
      await catalog.removed(id)
      await catalog.pass(23 * hour)
      await catalog.inspection.upkeep()
      for (let n = 0; n < 2; n++) {
        const told = await restore(id)
        assert.equal(told.status, 200, told.text)
        assert.deepEqual(told.json, record)
      }
      assert.deepEqual((await get(`/artifacts/${id}`)).json, record)
      assert.ok((await get(`/artifacts/${id}/content`)).bytes.equals(bytes))
      assert.equal((await usage()).publishedBytes, before.publishedBytes)
      assert.deepEqual(await catalog.actions(id), ['artifact.publish', 'artifact.delete', 'artifact.restore'])
      await catalog.pass(48 * hour)
      await catalog.inspection.upkeep()
      assert.ok((await get(`/artifacts/${id}/content`)).bytes.equals(bytes))
      assert.equal((await catalog.removed(id)).outcome, 'deleted')
    })

    it('is over when the grace period is and its bytes were given up', async () => {
      const id = await catalog.published()
      await catalog.removed(id)
      await catalog.pass(25 * hour)
      await catalog.inspection.upkeep()
      assert.equal((await restore(id)).status, 404)
      assert.equal((await restore(randomUUID())).status, 404)
    })

    it('and giving it up exclude each other, whoever is first', async () => {
      for (let round = 0; round < 6; round++) {
        const content = `contested ${round}`
        const id = await catalog.published(content)
        await catalog.removed(id)
        await catalog.pass(25 * hour)
        const [told] = await Promise.all([restore(id), catalog.inspection.upkeep(), catalog.inspection.upkeep()])
        await catalog.inspection.upkeep()
        assert.ok(told.status === 200 || told.status === 404, told.text)
        await get(`/artifacts/${id}/content`, told.status)
        assert.equal((await catalog.inspection.stored()).includes(digestOf(content)), told.status === 200)
        await catalog.inspection.inOrder()
      }
    })

    it('is, like deleting, for catalog.service keys that may', async () => {
      const id = await catalog.published()
      for (const credential of [catalog.writer.token, catalog.service.recoveryKey]) {
        const status = credential === catalog.writer.token ? 403 : 404
        assert.equal((await remove(id, 0, credential)).status, status)
        assert.equal((await restore(id, credential)).status, status)
      }
      await get(`/artifacts/${id}`)
    })
  })

  describe('the grace period of a repository', () => {
    const path = `${base}/cleanup`
    const set = (expectedRevision: number, graceHours: number | null): Promise<Told> =>
      catalog.service.ask({ method: 'PUT', path, credential: catalog.keeper, json: { expectedRevision, graceHours } })

    it('is the server’s until it is set, by comparing and swapping, and holds for what is deleted already', async () => {
      const id = await catalog.published()
      await catalog.removed(id)
      const first = (await get('/cleanup', 200, catalog.keeper)).json
      assert.deepEqual(first, { revision: 0, graceHours: null, serverGraceHours: 24 })
      const told = await set(0, 48)
      assert.deepEqual([told.status, told.json], [200, { revision: 1, graceHours: 48, serverGraceHours: 24 }])
      const late = await set(0, 1)
      assert.deepEqual([late.status, late.json.code], [409, 'revision_mismatch'])
      assert.equal((await usage()).graceHours, 48)
      assert.ok(Math.abs(seconds((await catalog.removed(id)).restorableUntil) - seconds(at(48 * hour))) <= 2)
      await catalog.pass(47 * hour)
      await catalog.inspection.upkeep()
      assert.equal((await restore(id)).status, 200)
      await catalog.removed(id)
      assert.equal((await set(1, 0)).status, 200)
      await catalog.inspection.upkeep()
      assert.equal((await restore(id)).status, 404)
      assert.equal((await set(2, null)).status, 200)
      for (const wrong of [-1, 8761, 1.5, '24', true]) assert.equal((await set(3, wrong as number)).status, 400)
    })
  })

  describe('the quota of a repository', () => {
    const limit = (quotaBytes: number | null) =>
      inDatabase(catalog.service, (q) =>
        q.updateTable('repositories').set({ quota_bytes: quotaBytes }).where('id', '=', repository).execute(),
      )
    const open = (size: number): Promise<Told> =>
      catalog.service.ask({
        path: `${base}/uploads`,
        credential: catalog.writer.token,
        headers: { 'idempotency-key': randomUUID() },
        json: { name: 'x', size: String(size), sha256: digestOf(randomUUID()) },
      })

    it('is kept exactly by many who reserve at once', async () => {
      const { reservedBytes } = await usage()
      await limit(Number(reservedBytes) + 5_000)
      const told = await Promise.all(Array.from({ length: 16 }, () => open(1_000)))
      assert.equal(told.filter(({ status }) => status === 201).length, 5)
      for (const { status, json } of told.filter((each) => each.status !== 201)) {
        assert.deepEqual([status, json.code], [507, 'storage_quota'])
        assert.match(json.detail, /quota of \d+ bytes does not suffice for 1000 more/)
      }
      assert.equal((await usage()).state, 'critical')
      await limit(null)
    })

    it('is used to the last byte by a body of unknown length', async () => {
      await limit(Number((await usage()).reservedBytes) + 50_000)
      const put = (name: string, bytes: number): Promise<Told> =>
        catalog.service.ask({
          method: 'PUT',
          path: `${base}/raw/${name}`,
          credential: catalog.writer.token,
          body: chunked(Buffer.alloc(bytes, name)),
        })
      const over = await put('over', 50_001)
      assert.deepEqual([over.status, over.json.code], [507, 'storage_quota'])
      assert.equal((await put('just', 50_000)).status, 201)
      await limit(null)
    })

    it('refuses growth when it is smaller than what is there, and takes nothing away', async () => {
      const id = await catalog.published()
      await limit(1)
      assert.equal((await usage()).state, 'exceeded')
      assert.equal((await open(1)).status, 507)
      const put = await catalog.service.ask({
        method: 'PUT',
        path: `${base}/raw/x`,
        credential: catalog.writer.token,
        body: 'x',
      })
      assert.deepEqual([put.status, put.json.code], [507, 'storage_quota'])
      await get(`/artifacts/${id}/content`)
      await catalog.removed(id)
      assert.equal((await restore(id)).status, 200, 'what is deleted counts, so that it can come back')
      await limit(null)
      assert.equal((await usage()).state, 'unlimited')
    })
  })

  it('is known to the upload that it came by: that leads to no file while the file is deleted', async () => {
    const [key, { descriptor, bytes }] = [randomUUID(), newFile('came', `came ${randomUUID()}`)]
    const open = (): Promise<Told> => openUpload(catalog.service, catalog.writer.token, repository, descriptor, key)
    const first = await open()
    const { id } = first.json
    const upload = String(first.headers.location)
    const ask = (method: string, path = ''): Promise<Told> =>
      catalog.service.ask({ method, path: `${upload}${path}`, credential: catalog.writer.token })
    const send = (): Promise<Told> => sendContent(catalog.service, catalog.writer.token, upload, bytes)
    const available = { ...first.json, status: 'available' }
    const isThere = async (): Promise<void> => {
      for (const told of [await open(), await ask('GET'), await ask('POST', '/complete')])
        assert.deepEqual([told.status, told.json], [200, available], told.text)
    }
    assert.equal((await send()).status, 200)
    await isThere()

    await catalog.removed(id)
    for (const told of [await open(), await ask('GET'), await ask('DELETE')])
      assert.deepEqual([told.status, told.json], [200, { ...available, status: 'cancelled' }], told.text)
    for (const told of [await send(), await ask('POST', '/complete'), await ask('POST', '/complete-async')]) {
      assert.deepEqual([told.status, told.json.code], [409, 'upload_state'], told.text)
      assert.match(told.json.detail, /deleted since.*new Idempotency-Key/)
    }
    assert.equal((await restore(id)).status, 200)
    await isThere()
    assert.equal((await ask('DELETE')).json.code, 'upload_state')
  })
})
