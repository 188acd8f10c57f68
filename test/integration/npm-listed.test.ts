import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { openInspection } from '../harness/inspection.ts'
import { npmSite } from '../harness/npm-packages.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = npmSite(engine)
  const base = '/api/v1/repositories/releases'
  const get = async (path: string, status = 200) =>
    (await expectAnswer(site.service, { path: base + path, credential: site.owner.token }, status)).json

  it('packages are listed by name, a page at a time, and found by a part of it', async () => {
    const { npm } = site
    assert.deepEqual((await get('')).inUse, [])
    for (const name of ['b', '@acme/a', 'a']) await npm.publish({ name, version: '1.0.0', description: `of ${name}` })
    const first = await get('/npm/packages?limit=2')
    const second = await get(`/npm/packages?limit=2&after=${first.next}`)
    const names = [...first.items, ...second.items].map(({ name }: { name: string }) => name)
    assert.deepEqual(names, ['@acme/a', 'a', 'b'])
    assert.equal(second.next, null)
    const [found] = (await get('/npm/packages?contains=ACM')).items
    assert.deepEqual(
      [found.name, found.versions, found.latest, found.description],
      ['@acme/a', 1, '1.0.0', 'of @acme/a'],
    )
    assert.deepEqual((await get('')).inUse, ['npm'])
  })

  it('versions are listed the newest first, and opened', async () => {
    const { npm } = site
    const more = { readme: '# it', dependencies: { other: '^1.0.0' } }
    const tarball = await npm.publish({ name: 'listed', version: '1.0.0', ...more })
    for (const version of ['0.9.0', '1.1.0']) await npm.publish({ name: 'listed', version }, { tag: 'next' })
    const first = await get('/npm/versions?package=listed&limit=2')
    assert.deepEqual(
      first.items.map(({ version, tags }: { version: string; tags: string[] }) => [version, tags]),
      [
        ['1.1.0', ['next']],
        ['0.9.0', []],
      ],
    )
    const [oldest] = (await get(`/npm/versions?package=listed&limit=2&after=${first.next}`)).items
    assert.deepEqual([oldest.version, oldest.tags, oldest.size], ['1.0.0', ['latest'], String(tarball.byteLength)])
    assert.equal(oldest.actorName, 'owner')
    const opened = await get('/npm/version?package=listed&version=1.0.0')
    assert.deepEqual([opened.readme, opened.dependencies, opened.files], ['# it', { other: '^1.0.0' }, 1])
    await get('/npm/version?package=listed&version=9.9.9', 404)
    await get('/npm/versions?package=unlisted', 404)
  })

  it('a version is deleted by whoever may delete, as npm does it, and brought back', async () => {
    const { npm, service, keeper, owner } = site
    const tarball = await npm.publish({ name: '@acme/gone', version: '1.0.0' })
    await npm.publish({ name: '@acme/gone', version: '1.1.0' })
    const stage = { path: `${base}/npm/stages/tested`, credential: owner.token }
    const deleted = { package: '@acme/gone', version: '1.1.0' }
    const remove = (version: string, status: number, credential = keeper) =>
      expectAnswer(
        service,
        { method: 'DELETE', path: `${base}/npm/versions?package=@acme%2Fgone&version=${version}`, credential },
        status,
      )
    const tags = async () => (await npm.document('@acme/gone')).json['dist-tags']
    await expectAnswer(service, { ...stage, method: 'PUT', json: deleted }, 200)
    assert.equal((await remove('1.1.0', 409)).json.code, 'version_kept')
    await expectAnswer(
      service,
      { ...stage, method: 'DELETE', path: `${stage.path}?package=@acme%2Fgone&version=1.1.0` },
      204,
    )
    assert.equal((await remove('1.1.0', 403, owner.token)).json.code, 'permission_missing')
    await remove('1.2.0', 404)
    const { _rev: before } = (await npm.document('@acme/gone')).json
    assert.deepEqual([await tags(), before.split('-')[0]], [{ latest: '1.1.0' }, '2'])
    await remove('1.1.0', 204)
    assert.deepEqual(await tags(), { latest: '1.0.0' })
    assert.equal((await remove('1.1.0', 404)).json.code, 'not_found')
    await npm.expect({ path: npm.at('/@acme/gone/-/gone-1.1.0.tgz') }, 404)
    await remove('1.0.0', 204)
    await npm.expect({ path: npm.at('/@acme/gone') }, 404)
    const restored = { ...deleted, version: '1.0.0' }
    await expectAnswer(service, { path: `${base}/npm/versions/restore`, credential: owner.token, json: restored }, 200)
    assert.ok((await npm.expect({ path: npm.at('/@acme/gone/-/gone-1.0.0.tgz') }, 200)).bytes.equals(tarball))
    const told = (await get('/changes?limit=100')).items
    assert.deepEqual(
      told.slice(-4).map(({ action, detail }: { action: string; detail: string }) => `${action} ${detail}`),
      [
        'dist-tag.remove @acme/gone@1.0.0 latest',
        'package.unpublish @acme/gone@1.0.0',
        'package.restore @acme/gone@1.0.0',
        'dist-tag.set @acme/gone@1.0.0 latest',
      ],
    )
  })

  it('a deleted version is brought back within the grace period, and never after it', async () => {
    const { npm, service, keeper, owner } = site
    const tarball = await npm.publish({ name: 'back', version: '1.0.0' })
    await npm.publish({ name: 'back', version: '1.1.0' })
    const remove = (version: string) =>
      expectAnswer(
        service,
        { method: 'DELETE', path: npm.at(`/back/-/back-${version}.tgz/-rev/0`), credential: keeper },
        200,
      )
    const restore = (version: string, status: number) =>
      expectAnswer(
        service,
        { path: `${base}/npm/versions/restore`, credential: owner.token, json: { package: 'back', version } },
        status,
      )
    await restore('1.0.0', 404)
    await remove('1.0.0')
    await remove('1.1.0')
    await npm.expect({ path: npm.at('/back') }, 404)
    const deleted = (await get('/npm/versions/deleted?package=back')).items
    assert.deepEqual(
      deleted.map(({ version }: { version: string }) => version),
      ['1.1.0', '1.0.0'],
    )
    assert.ok(deleted[0].keptUntil > deleted[0].deletedAt)
    assert.equal((await restore('1.0.0', 200)).json.version, '1.0.0')
    assert.ok((await npm.expect({ path: npm.at('/back/-/back-1.0.0.tgz') }, 200)).bytes.equals(tarball))
    assert.deepEqual((await npm.document('back')).json['dist-tags'], { latest: '1.0.0' })
    service.clock.advance(400 * 24 * 3_600_000)
    const inspection = await openInspection(service)
    await inspection.upkeep()
    await inspection.close()
    const fresh = service.recoveryKey
    const restoreLate = {
      path: `${base}/npm/versions/restore`,
      credential: fresh,
      json: { package: 'back', version: '1.1.0' },
    }
    await expectAnswer(service, restoreLate, 404)
    const document = { path: npm.at('/back'), credential: fresh }
    assert.deepEqual(Object.keys((await expectAnswer(service, document, 200)).json.versions), ['1.0.0'])
  })
})
