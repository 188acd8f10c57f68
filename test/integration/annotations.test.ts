import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, it } from 'node:test'
import { hour } from '../../src/kernel/units.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { createPerson } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'

const repository = 'one'
const base = `/api/v1/repositories/${repository}`
const descriptor = { labels: ['nightly', 'Ünïcode 🎉'], metadata: { branch: 'main', empty: '' } }

after(closeConnections)

forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine)
  })
  after(() => catalog.inspection.inOrder())
  after(() => catalog.close())
  afterEach(() => catalog.inspection.sums())

  let files = 0
  const published = (): Promise<string> =>
    publish(
      catalog.service,
      catalog.writer.token,
      repository,
      newFile(`file ${++files}`, `content ${files}`, descriptor),
    )
  const pathOf = (id: string): string => `${base}/artifacts/${id}/annotations`
  const get = async (id: string, status = 200, credential = catalog.reader.token): Promise<Told['json']> =>
    (await expectAnswer(catalog.service, { path: pathOf(id), credential }, status)).json
  const put = (id: string, json: unknown, credential = catalog.writer.token): Promise<Told> =>
    catalog.service.ask({ method: 'PUT', path: pathOf(id), credential, json })
  const replaced = async (id: string, expectedRevision: number, value: object): Promise<Told['json']> => {
    const told = await put(id, { expectedRevision, value })
    assert.equal(told.status, 200, told.text)
    return told.json
  }
  describe('annotations', () => {
    it('are those of the upload at revision 0, and replacing them leaves the descriptor as it was', async () => {
      const id = await published()
      assert.deepEqual(await get(id), { revision: 0, ...descriptor, collections: [] })
      const value = { labels: ['Release'], metadata: { 'build.number': '7' }, collections: ['team:a', 'x_.-Y'] }
      assert.deepEqual(await replaced(id, 0, value), { revision: 1, ...value })
      assert.deepEqual(await get(id), { revision: 1, ...value })
      const record = await expectAnswer(
        catalog.service,
        { path: `${base}/artifacts/${id}`, credential: catalog.reader.token },
        200,
      )
      assert.deepEqual(record.json.descriptor.labels, descriptor.labels)
      assert.deepEqual(record.json.descriptor.metadata, descriptor.metadata)
    })

    it('become empty where they are left out', async () => {
      const id = await published()
      assert.deepEqual(await replaced(id, 0, {}), { revision: 1, labels: [], metadata: {}, collections: [] })
      await replaced(id, 1, { collections: ['c'] })
      assert.deepEqual(await get(id), { revision: 2, labels: [], metadata: {}, collections: ['c'] })
    })

    it('are replaced once by several who saw the same revision, each replacement told with its actor', async () => {
      const id = await published()
      for (const expectedRevision of [0, 1]) {
        const told = await Promise.all(
          Array.from({ length: 8 }, (_, index) => put(id, { expectedRevision, value: { labels: [`by ${index}`] } })),
        )
        const won = told.filter(({ status }) => status === 200)
        assert.equal(won.length, 1)
        for (const { status, json } of told)
          if (status !== 200) assert.deepEqual([status, json.code], [409, 'revision_mismatch'])
        assert.deepEqual(await get(id), won[0]?.json)
      }
      const lines = await catalog.journal(id)
      assert.deepEqual(
        lines.map(({ action }) => action),
        ['artifact.publish', 'annotation.replace', 'annotation.replace'],
      )
      for (const line of lines) assert.deepEqual([line.actor, line.detail], [`account:${catalog.writer.id}`, null])
    })

    it('are taken up to their limits and not beyond', async () => {
      const id = await published()
      const many = <T>(count: number, make: (index: number) => T): T[] =>
        Array.from({ length: count }, (_, i) => make(i))
      const metadata = (count: number, value: string) => Object.fromEntries(many(count, (i) => [`key${i}`, value]))
      const most = {
        labels: many(32, (i) => `${String(i).padStart(2, '0')}${'🎉'.repeat(62)}`),
        metadata: metadata(32, '🎉'.repeat(1024)),
        collections: many(32, (i) => `${String(i).padStart(2, '0')}${'c'.repeat(62)}`),
      }
      assert.deepEqual(await replaced(id, 0, most), { revision: 1, ...most })
      const wrong: [string, object][] = [
        ['/value/labels', { labels: many(33, String) }],
        ['/value/labels/0', { labels: ['l'.repeat(65)] }],
        ['/value/labels/0', { labels: [''] }],
        ['/value/labels/0', { labels: ['a\nb'] }],
        ['/value/metadata', { metadata: metadata(33, '') }],
        ['/value/metadata/key0', { metadata: metadata(1, 'm'.repeat(1025)) }],
        ['/value/metadata', { metadata: { '1st': 'x' } }],
        ['/value/collections', { collections: many(33, String) }],
        ['/value/collections/0', { collections: [''] }],
        ['/value/collections/0', { collections: ['c'.repeat(65)] }],
        ['/value/collections/0', { collections: ['a b'] }],
        ['/value/collections', { collections: null }],
        ['/value', { other: [] }],
      ]
      for (const [pointer, value] of wrong) {
        const told = await put(id, { expectedRevision: 1, value })
        assert.equal(told.status, 400, told.text)
        assert.ok(
          told.json.details.some((detail: { pointer: string }) => detail.pointer.startsWith(pointer)),
          `${pointer}: ${told.text}`,
        )
      }
      for (const expectedRevision of [-1, 2_147_483_647, '1', 1.5, undefined])
        assert.equal((await put(id, { expectedRevision, value: {} })).status, 400)
      assert.equal((await put(id, { expectedRevision: 1 })).status, 400)
      assert.equal((await get(id)).revision, 1)
    })

    it('are told revision by revision, with who said so and when, the last hundred of them', async () => {
      const history = async (id: string, query = '') =>
        (
          await expectAnswer(
            catalog.service,
            { path: `${pathOf(id)}/history${query}`, credential: catalog.reader.token },
            200,
          )
        ).json
      const id = await published()
      assert.deepEqual(await history(id), { items: [], next: null })
      for (let revision = 0; revision < 101; revision++) await replaced(id, revision, { labels: [`l${revision}`] })
      const first = await history(id)
      assert.equal(first.items.length, 20)
      const { createdAt, ...newest } = first.items[0]
      assert.ok(Date.parse(createdAt) <= catalog.service.clock.now())
      assert.deepEqual(newest, {
        ...{ revision: 101, labels: ['l100'], metadata: {}, collections: [] },
        ...{ actor: `account:${catalog.writer.id}`, actorName: catalog.writer.name },
      })
      const told: number[] = []
      for (let next: number | null = 102; next !== null; ) {
        const page = await history(id, `?before=${next}`)
        told.push(...page.items.map(({ revision }: { revision: number }) => revision))
        next = page.next
      }
      assert.deepEqual(
        told,
        Array.from({ length: 100 }, (_, index) => 101 - index),
      )
      await expectAnswer(
        catalog.service,
        { path: `${pathOf(randomUUID())}/history`, credential: catalog.reader.token },
        404,
      )
    })

    it('reach the last revision and stay there', async () => {
      const id = await published()
      await replaced(id, 0, {})
      const last = 2_147_483_647
      await inDatabase(catalog.service, async (q) => {
        await q
          .updateTable('annotations')
          .set({ revision: last - 1 })
          .where('artifact_id', '=', id)
          .execute()
      })
      assert.equal((await replaced(id, last - 1, {})).revision, last)
      assert.equal((await put(id, { expectedRevision: last - 1, value: {} })).json.code, 'revision_mismatch')
    })

    it('of what is not there, not published, elsewhere or not visible are not found', async () => {
      const id = await published()
      const session = await catalog.service.ask({
        path: `${base}/uploads`,
        credential: catalog.writer.token,
        headers: { 'idempotency-key': randomUUID() },
        json: newFile('pending', 'pending').descriptor,
      })
      for (const missing of [randomUUID(), session.json.id]) {
        await get(missing, 404)
        assert.equal((await put(missing, { expectedRevision: 0, value: {} })).status, 404)
      }
      const elsewhere = `/api/v1/repositories/releases/artifacts/${id}/annotations`
      await expectAnswer(catalog.service, { path: elsewhere, credential: catalog.service.recoveryKey }, 404)
      const json = { expectedRevision: 0, value: {} }
      await expectAnswer(
        catalog.service,
        { method: 'PUT', path: elsewhere, credential: catalog.service.recoveryKey, json },
        404,
      )
      const stranger = await createPerson(catalog.service, 'stranger')
      await get(id, 404, stranger.token)
      assert.equal((await put(id, json, stranger.token)).status, 404)
      assert.equal((await put(id, json, catalog.reader.token)).status, 403)
    })

    it('decide over a deletion by their revision, which its check shows', async () => {
      const id = await published()
      await replaced(id, 0, { labels: ['changed'] })
      const path = `${base}/artifacts/${id}/deletion`
      const check = await expectAnswer(catalog.service, { path, credential: catalog.keeper }, 200)
      assert.equal(check.json.annotationRevision, 1)
      assert.equal((await catalog.removed(id, 0)).outcome, 'changed')
      assert.equal((await catalog.removed(id, 2)).outcome, 'changed')
      assert.equal((await catalog.removed(id, 1)).outcome, 'deleted')
    })

    it('and deletion exclude each other, whoever is first', async () => {
      for (let round = 0; round < 8; round++) {
        const id = await published()
        const [told, deleted] = await Promise.all([
          put(id, { expectedRevision: 0, value: { labels: ['late'] } }),
          catalog.removed(id, 0),
        ])
        assert.ok(
          (told.status === 200 && deleted.outcome === 'changed') ||
            (told.status === 404 && deleted.outcome === 'deleted'),
          `${told.text} ${deleted.text}`,
        )
      }
    })

    it('are hidden with a deleted file, come back with it, and go with it for good', async () => {
      const id = await published()
      const now = await replaced(id, 0, { labels: ['kept'], collections: ['c'] })
      await catalog.removed(id, 1)
      await get(id, 404)
      assert.equal((await put(id, { expectedRevision: 1, value: {} })).status, 404)
      assert.equal((await catalog.restore(id)).status, 200)
      assert.deepEqual(await get(id), now)
      await catalog.removed(id, 1)
      catalog.service.clock.advance(25 * hour)
      await catalog.inspection.upkeep()
      for (const table of ['annotations', 'annotation_revisions'] as const)
        assert.deepEqual(
          await inDatabase(catalog.service, (q) =>
            q.selectFrom(table).selectAll().where('artifact_id', '=', id).execute(),
          ),
          [],
        )
    })
  })

  it('annotations of nothing are found by the doctor, and forgotten when it mends', async () => {
    const artifact_id = randomUUID()
    await inDatabase(catalog.service, async (q) => {
      await q
        .insertInto('annotations')
        .values({ artifact_id, revision: 1, labels: '[]', metadata: '{}', collections: '[]' })
        .execute()
    })
    assert.match((await catalog.inspection.findings()).damage.join(), new RegExp(artifact_id))
    assert.equal((await catalog.inspection.mend()).length, 1)
  })
})
