import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { hour } from '../../src/kernel/units.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { createPerson, createRepository, grant } from '../harness/people.ts'
import { encoded } from '../harness/raw-paths.ts'

after(closeConnections)

interface Deleted {
  readonly id: string
  readonly deletedAt: string
  readonly restorableUntil: string
}

forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine)
  })
  after(() => catalog.inspection.inOrder())
  after(() => catalog.close())

  const deleted = async (query = ''): Promise<{ items: Deleted[]; next: string | null }> =>
    catalog.get(`/deleted-artifacts?${query}`)
  const ids = ({ items }: { items: Deleted[] }): string[] => items.map(({ id }) => id)
  const gone = async (content?: string): Promise<string> => {
    const id = await catalog.published(content)
    assert.equal((await catalog.remove(id)).json.outcome, 'deleted')
    catalog.service.clock.advance(1_000)
    return id
  }

  describe('deleted files', () => {
    it('are listed for whoever writes, with how long they can be brought back, and are brought back by them', async () => {
      assert.deepEqual(await deleted(), { items: [], next: null })
      const kept = await catalog.published()
      const id = await gone('deleted')
      const { items } = await deleted()
      const [item] = items
      assert.deepEqual(Object.keys(item ?? {}).sort(), [
        ...['deletedAt', 'id', 'name', 'publishedAt', 'restorableUntil', 'sha256', 'size'],
      ])
      assert.equal(item?.id, id)
      assert.equal(Date.parse(item?.restorableUntil ?? '') - Date.parse(item?.deletedAt ?? ''), 24 * hour)
      const path = `/deleted-artifacts/${id}/restore`
      const back = await catalog.expect({ method: 'POST', path }, 200)
      assert.equal(back.json.id, id)
      await catalog.expect({ method: 'POST', path }, 200)
      assert.deepEqual(await deleted(), { items: [], next: null })
      await catalog.expect({ path: `/artifacts/${id}` }, 200)
      const last = (await catalog.journal(id)).at(-1)
      assert.deepEqual([last?.action, last?.actor], ['artifact.restore', `account:${catalog.writer.id}`])
      await catalog.expect({ method: 'POST', path: `/deleted-artifacts/${kept}/restore` }, 200)
    })

    it('are shown and brought back to nobody who only reads, or sees nothing, and not from another repository', async () => {
      const id = await gone()
      const path = `/deleted-artifacts/${id}/restore`
      const { service } = catalog
      const stranger = await createPerson(service, 'stranger')
      const asReader = { credential: catalog.reader.token }
      await catalog.expect({ path: '/deleted-artifacts', ...asReader }, 403, 'permission_missing')
      await catalog.expect({ method: 'POST', path, ...asReader }, 403, 'permission_missing')
      await catalog.expect({ path: '/deleted-artifacts', credential: stranger.token }, 404, 'not_found')
      await catalog.expect({ method: 'POST', path, credential: stranger.token }, 404, 'not_found')
      await createRepository(service, 'other')
      await grant(service, stranger, 'other', 'write')
      const other = '/api/v1/repositories/other'
      const credential = stranger.token
      await expectAnswer(service, { method: 'POST', path: other + path, credential }, 404, 'not_found')
      const none = await expectAnswer(service, { path: `${other}/deleted-artifacts`, credential }, 200)
      assert.deepEqual(none.json, { items: [], next: null })
      assert.deepEqual(ids(await deleted()), [id])
      await catalog.expect({ method: 'POST', path }, 200)
    })

    it('go by the time of their deletion, either way, page by page, and leave when their time is over', async () => {
      const all: string[] = []
      for (let n = 0; n < 7; n++) all.push(await gone())
      for (const order of ['asc', 'desc']) {
        const found: string[] = []
        for (let cursor = ''; ; ) {
          const page = await deleted(`order=${order}&limit=3${cursor}`)
          found.push(...ids(page))
          if (page.next === null) break
          cursor = `&after=${page.next}`
          for (const wrong of [`order=${order === 'asc' ? 'desc' : 'asc'}`])
            await catalog.expect({ path: `/deleted-artifacts?${wrong}${cursor}` }, 400, 'invalid_request')
        }
        assert.deepEqual(found, order === 'asc' ? all : all.toReversed())
      }
      const json = { expectedRevision: 0, graceHours: 2 }
      await catalog.expect({ method: 'PUT', path: '/cleanup', credential: catalog.keeper, json }, 200)
      const [first] = (await deleted('limit=1')).items
      assert.equal(Date.parse(first?.restorableUntil ?? '') - Date.parse(first?.deletedAt ?? ''), 2 * hour)
      await catalog.pass(3 * hour)
      await catalog.inspection.upkeep()
      assert.deepEqual(await deleted(), { items: [], next: null })
      await catalog.expect({ method: 'POST', path: `/deleted-artifacts/${all[0]}/restore` }, 404, 'not_found')
    })

    it('refuse what is no cursor, order or page', async () => {
      for (const query of ['after=x', 'after=!', 'order=up', 'limit=0', 'limit=101', 'q=x'])
        await catalog.expect({ path: `/deleted-artifacts?${query}` }, 400, 'invalid_request')
    })
  })

  describe('removed paths', () => {
    const removed = (
      query = '',
    ): Promise<{ items: { path: string; restorableRevision: number | null }[]; next: string | null }> =>
      catalog.get(`/assets/removed?${query}`)
    const at = (path: string) => `/raw/${encoded(path)}`

    it('are listed with the revision that restoring brings back, until they show something again', async () => {
      for (const path of ['ends/ä', 'ends/b', 'ends/c', 'stays'])
        for (const body of ['first', 'second']) await catalog.expect({ method: 'PUT', path: at(path), body }, 201)
      for (const path of ['ends/c', 'ends/b', 'ends/ä']) await catalog.expect({ method: 'DELETE', path: at(path) }, 200)
      const { items, next } = await removed('prefix=ends/')
      assert.equal(next, null)
      assert.deepEqual(
        items.map(({ path, restorableRevision }) => [path, restorableRevision]),
        [
          ['ends/b', 2],
          ['ends/c', 2],
          ['ends/ä', 2],
        ],
      )
      assert.deepEqual((await removed('prefix=stays')).items, [])
      const forget = { path: 'ends/c', through: 3 }
      await catalog.expect({ method: 'POST', path: '/asset/forget', credential: catalog.keeper, json: forget }, 200)
      assert.deepEqual((await removed('prefix=ends/c')).items[0]?.restorableRevision, null)
      const restore = { path: 'ends/b', sourceRevision: 2, expectedRevision: 3 }
      await catalog.expect({ method: 'POST', path: '/asset/restore', json: restore }, 200)
      assert.deepEqual(
        (await removed()).items.map(({ path }) => path),
        ['ends/c', 'ends/ä'],
      )
    })

    it('come page by page, to readers as well, and to no stranger', async () => {
      const first = await removed('limit=1&prefix=ends/')
      assert.equal(first.items[0]?.path, 'ends/c')
      const rest = await removed(`limit=1&prefix=ends/&after=${first.next}`)
      assert.deepEqual([rest.items.map(({ path }) => path), rest.next], [['ends/ä'], null])
      await catalog.expect({ path: `/assets/removed?after=${first.next}` }, 400, 'invalid_request')
      await catalog.expect({ path: '/assets/removed', credential: catalog.reader.token }, 200)
      const stranger = await createPerson(catalog.service, 'passer-by')
      await catalog.expect({ path: '/assets/removed', credential: stranger.token }, 404, 'not_found')
    })
  })
})
