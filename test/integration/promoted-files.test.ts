import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { addPackage, register } from '../harness/packages.ts'
import { createRepository, grant } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'

after(closeConnections)

forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine)
    await createRepository(catalog.service, 'two')
    await grant(catalog.service, catalog.writer, 'two', 'write')
  })
  after(() => catalog.inspection.inOrder())
  after(() => catalog.close())
  afterEach(() => catalog.inspection.sums())

  describe('a promoted file', () => {
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

  describe('a package that is promoted', () => {
    const add = (name: string, version: string, repository = 'one'): Promise<string> =>
      addPackage(catalog.service, catalog.writer.token, repository, { name, version })
    const promote = (id: string, json: object = {}): Promise<Told> =>
      catalog.ask({ path: `/artifacts/${id}/promote`, json: { target: 'two', ...json } })
    const resolved = async (repository: string, query: Record<string, string>): Promise<string | null> => {
      const path = `/api/v1/repositories/${repository}/packages/resolve?${new URLSearchParams(query)}`
      const told = await catalog.service.ask({ path, credential: catalog.writer.token })
      assert.ok(told.status === 200 || told.status === 404, told.text)
      return told.status === 200 ? told.json.artifactId : null
    }
    const stage = (method: 'PUT' | 'DELETE', id: string, name: string): Promise<Told> =>
      catalog.ask({ method, path: `/artifacts/${id}/stages/${name}`, ...(method === 'PUT' ? { json: {} } : {}) })

    it('is resolved by its stages from the moment it has them until it has them no more', async () => {
      const id = await add('staged', '1.0.0')
      assert.equal(await resolved('one', { name: 'staged', stage: 'tested' }), null)
      await stage('PUT', id, 'tested')
      assert.equal(await resolved('one', { name: 'staged', stage: 'tested' }), id)
      await stage('DELETE', id, 'tested')
      assert.equal(await resolved('one', { name: 'staged', stage: 'tested' }), null)
    })

    it('is a package in the target as well, found there by the stages that it was given', async () => {
      const id = await add('copied', '1.2.3')
      const told = await promote(id, { stages: ['live'] })
      assert.deepEqual([told.status, told.json.created], [201, true])
      const copy = told.json.artifactId
      assert.equal(await resolved('two', { name: 'copied', range: '^1', stage: 'live' }), copy)
      assert.equal(await resolved('one', { name: 'copied', version: '1.2.3' }), id)
    })

    it('has come, in the journal of the target, before it becomes a version there and gets stages', async () => {
      const id = await add('told', '1.0.0')
      for (const mode of ['copy', 'move']) {
        const { json } = await promote(id, { mode, stages: ['live', mode] })
        const path = '/api/v1/repositories/two/audit'
        const { items } = (await catalog.service.ask({ path, credential: catalog.writer.token })).json
        const lines: { artifactId: string; action: string }[] = items
        const own = lines.filter(({ artifactId }) => artifactId === json.artifactId).map(({ action }) => action)
        const first = ['artifact.received', 'package.register', 'stage.added', 'stage.added']
        assert.deepEqual(own, mode === 'copy' ? first : [...first, 'stage.added'])
      }
    })

    it('takes its version and its stages along when it is moved, and gets the version back when it is restored', async () => {
      const id = await add('moved', '2.0.0')
      await stage('PUT', id, 'tested')
      const told = await promote(id, { mode: 'move' })
      assert.deepEqual([told.status, told.json.stages], [201, ['tested']])
      assert.equal(await resolved('one', { name: 'moved' }), null)
      assert.equal(await resolved('two', { name: 'moved', stage: 'tested' }), told.json.artifactId)
      const restored = await catalog.ask({
        method: 'POST',
        path: `/artifacts/${id}/restore`,
        credential: catalog.keeper,
      })
      assert.equal(restored.status, 200, restored.text)
      assert.equal(await resolved('one', { name: 'moved' }), id)
    })

    it('is the one that is there already when the bytes are the same, and refused when they are others', async () => {
      const id = await add('there', '1.0.0')
      const content = await catalog.service.ask({
        path: `${catalog.base}/artifacts/${id}/content`,
        credential: catalog.writer.token,
      })
      const same = await publish(catalog.service, catalog.writer.token, 'two', newFile('there.upack', content.bytes))
      assert.equal((await register(catalog.service, catalog.writer.token, 'two', same)).status, 200)
      const told = await promote(id, { stages: ['live'] })
      assert.deepEqual([told.status, told.json.artifactId, told.json.created], [200, same, false])
      assert.equal(await resolved('two', { name: 'there', stage: 'live' }), same)

      const early = await add('cased', '1.0.0-RC.1')
      await add('Cased', '1.0.0-rc.1', 'two')
      assert.deepEqual((await promote(early)).json.code, 'version_exists')

      const mine = await add('taken', '1.0.0')
      await add('taken', '1.0.0', 'two')
      const refused = await promote(mine, { mode: 'move' })
      assert.deepEqual([refused.status, refused.json.code], [409, 'version_exists'])
      assert.equal(await resolved('one', { name: 'taken' }), mine)
    })
  })
})
