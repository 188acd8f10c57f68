import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { addPackage, publishPackage, register } from '../harness/packages.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

/** A package version is one whatever the case of its group, its name and its version. */
forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine)
  })
  after(() => catalog.close())

  const add = (name: string, version: string): Promise<string> =>
    addPackage(catalog.service, catalog.writer.token, 'one', { name, version })
  const refusedCode = async (name: string, version: string): Promise<string> => {
    const id = await publishPackage(catalog.service, catalog.writer.token, 'one', { name, version })
    const told = await register(catalog.service, catalog.writer.token, 'one', id)
    assert.equal(told.status, 409, told.text)
    return told.json.code
  }
  const resolved = async (query: string): Promise<string> =>
    (await catalog.expect({ path: `/packages/resolve?${query}` }, 200)).json.version

  it('is refused in another spelling, and listed as it was registered', async () => {
    await add('Tool', '1.0.0-RC.1')
    assert.equal(await refusedCode('tool', '1.0.0-rc.1'), 'version_exists')
    assert.equal(await refusedCode('TOOL', '1.0.0-Rc.1+build'), 'version_exists')
    await add('tool', '1.0.0-rc.2')
    const { items } = await catalog.get('/packages?name=TOOL&sort=version')
    assert.deepEqual(items.map(({ version }: { version: string }) => version).sort(), ['1.0.0-RC.1', '1.0.0-rc.2'])
  })

  it('is resolved and downloaded in any spelling, as version and as a range of one', async () => {
    const id = await add('Case', '2.0.0-Beta.X')
    for (const asked of ['2.0.0-Beta.X', '2.0.0-beta.x', '2.0.0-BETA.X+any'])
      for (const parameter of ['version', 'range']) {
        const query = `name=case&${parameter}=${encodeURIComponent(asked)}`
        assert.equal(await resolved(query), '2.0.0-Beta.X', query)
        const told = await catalog.expect({ path: `/packages/content?${query}` }, 200)
        assert.equal(told.headers['x-svc-artifact-id'], id)
      }
    await catalog.expect({ path: '/packages/resolve?name=case&version=2.0.0-beta.y' }, 404)
  })

  it('is not given back to a deleted file when another spelling was registered meanwhile', async () => {
    const gone = await add('Back', '1.0.0-A')
    await catalog.remove(gone)
    await add('back', '1.0.0-a')
    assert.equal((await catalog.restore(gone)).json.code, 'version_exists')
  })

  it('stays where two spellings are from of old, each found by its own', async () => {
    await add('old', '1.0.0-a')
    const other = await add('old', '1.0.0-b')
    await inDatabase(catalog.service, async (q) => {
      const { version_key } = await q
        .selectFrom('packages')
        .select('version_key')
        .where('artifact_id', '=', other)
        .executeTakeFirstOrThrow()
      await q
        .updateTable('packages')
        .set({ version: '1.0.0-A', version_key: version_key.replace('1b!', '1A!') })
        .where('artifact_id', '=', other)
        .execute()
    })
    assert.equal(await resolved('name=old&version=1.0.0-a'), '1.0.0-a')
    assert.equal(await resolved('name=old&version=1.0.0-A'), '1.0.0-A')
    assert.equal(await refusedCode('old', '1.0.0-A'), 'version_exists')
    assert.equal((await catalog.get('/packages?name=old')).items.length, 2)
  })
})
