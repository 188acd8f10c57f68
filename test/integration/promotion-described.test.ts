import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createRepository, grant } from '../harness/people.ts'

after(closeConnections)

forEachEngine((engine) => {
  describe('a promoted file', () => {
    let catalog: Catalog
    before(async () => {
      catalog = await Catalog.open(engine)
      await createRepository(catalog.service, 'two')
      await grant(catalog.service, catalog.writer, 'two', 'write')
    })
    after(() => catalog.inspection.inOrder())
    after(() => catalog.close())
    afterEach(() => catalog.inspection.sums())

    it('is described as its source is now, and found by that, with its stages', async () => {
      const id = await catalog.published()
      const value = { labels: ['approved'], metadata: { team: 'Blue' }, collections: ['spring'] }
      await catalog.expect(
        { method: 'PUT', path: `/artifacts/${id}/annotations`, json: { expectedRevision: 0, value } },
        200,
      )
      const told = await catalog.ask({
        path: `/artifacts/${id}/promote`,
        json: { target: 'two', mode: 'move', stages: ['live', 'gold'] },
      })
      assert.equal(told.status, 201, told.text)
      const there = async (path: string) =>
        (await catalog.service.ask({ path: `/api/v1/repositories/two${path}`, credential: catalog.writer.token })).json
      const copy = told.json.artifactId
      assert.deepEqual(await there(`/artifacts/${copy}/annotations`), { revision: 1, ...value })
      const found = await there('/search?q=blue&label=approved&collection=spring')
      assert.deepEqual(
        found.items.map((item: { id: string; stages: string[] }) => [item.id, item.stages]),
        [[copy, ['gold', 'live']]],
      )
      assert.deepEqual((await catalog.get('/search?q=blue')).items, [])
    })
  })
})
