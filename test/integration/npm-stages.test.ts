import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { stagesPerArtifactMax } from '../../src/kernel/limits/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { npmSite } from '../harness/npm-packages.ts'

after(closeConnections)

const base = '/api/v1/repositories/releases/npm'

forEachEngine((engine) => {
  const site = npmSite(engine)
  const expect = (given: Parameters<typeof expectAnswer>[1], status = 200, code?: string) =>
    expectAnswer(site.service, { credential: site.owner.token, ...given }, status, code)
  const add = async (name: string, version: string, stage: string, more: object = {}, status = 200) =>
    (
      await expect(
        { method: 'PUT', path: `${base}/stages/${stage}`, json: { package: name, version, ...more } },
        status,
      )
    ).json
  const remove = (name: string, version: string, stage: string, status = 204) =>
    expect(
      { method: 'DELETE', path: `${base}/stages/${stage}?package=${encodeURIComponent(name)}&version=${version}` },
      status,
    )
  const list = async (query = '') => (await expect({ path: `${base}/stages${query}` })).json.items

  describe('a stage of an npm version', () => {
    it('is given once, told by the journal, and taken again', async () => {
      await site.npm.publish({ name: '@acme/staged', version: '1.0.0' })
      const given = await add('@acme/staged', '1.0.0', 'tested', { comment: 'all green ✓' })
      assert.deepEqual(given, {
        ...{ package: '@acme/staged', version: '1.0.0', stage: 'tested', comment: 'all green ✓' },
        ...{ promotedAt: given.promotedAt, actor: `account:${site.owner.id}` },
      })
      site.service.clock.advance(60_000)
      assert.deepEqual(await add('@acme/staged', '1.0.0', 'tested', { comment: 'again' }), given)
      assert.deepEqual(await list('?package=@acme/staged'), [{ ...given, actorName: 'owner' }])
      const opened = await expect({ path: `${base}/version?package=@acme/staged&version=1.0.0` })
      assert.deepEqual(opened.json.stages, ['tested'])
      for (let time = 0; time < 2; time++) await remove('@acme/staged', '1.0.0', 'tested')
      assert.deepEqual(await list('?package=@acme/staged'), [])
      const { items } = (await expect({ path: `${base}/promotions?package=@acme/staged&version=1.0.0` })).json
      assert.deepEqual(
        items.map(({ action, package: name, version, stage, comment }: Record<string, unknown>) => [
          ...[action, name, version, stage, comment],
        ]),
        [
          ['stage.added', '@acme/staged', '1.0.0', 'tested', 'all green ✓'],
          ['stage.removed', '@acme/staged', '1.0.0', 'tested', null],
        ],
      )
    })

    it('is one of sixteen at most', async () => {
      await site.npm.publish({ name: 'full', version: '1.0.0' })
      for (let number = 0; number < stagesPerArtifactMax; number++) await add('full', '1.0.0', `s${number}`)
      await add('full', '1.0.0', 's0')
      assert.equal((await add('full', '1.0.0', 'more', {}, 409)).code, 'stage_limit')
    })

    it('keeps its version, whichever way somebody takes it away, in words that clients show', async () => {
      const { npm, service, keeper } = site
      for (const version of ['1.0.0', '1.1.0']) await npm.publish({ name: 'kept', version })
      await add('kept', '1.0.0', 'released')
      const read = (await npm.document('kept')).json
      const less = { ...read, versions: { '1.1.0': read.versions['1.1.0'] } }
      for (const [method, path, json] of [
        ['PUT', `/kept/-rev/${read._rev}`, less],
        ['DELETE', `/kept/-rev/${read._rev}`, undefined],
        ['DELETE', `/kept/-/kept-1.0.0.tgz/-rev/${read._rev}`, undefined],
      ] as const) {
        const request = { method, path: npm.at(path), credential: keeper, ...(json === undefined ? {} : { json }) }
        const told = await expectAnswer(service, request, 409, 'version_kept')
        assert.match(told.json.error, /kept@1\.0\.0 is on the stage released/)
      }
      assert.deepEqual((await npm.document('kept')).json.versions, read.versions)
      const other = { method: 'DELETE', path: npm.at('/kept/-/kept-1.1.0.tgz/-rev/0'), credential: keeper }
      await expectAnswer(service, other, 200)
      await remove('kept', '1.0.0', 'released')
      await expectAnswer(service, { ...other, path: npm.at('/kept/-/kept-1.0.0.tgz/-rev/0') }, 200)
    })

    it('is refused for what is not there, and to who may not', async () => {
      const { service, reader, npm } = site
      await npm.publish({ name: 'rights', version: '1.0.0' })
      await add('rights', '9.9.9', 'tested', {}, 404)
      await add('unpublished', '1.0.0', 'tested', {}, 404)
      await remove('rights', '9.9.9', 'tested', 404)
      const json = { package: 'rights', version: '1.0.0' }
      const put = { method: 'PUT', path: `${base}/stages/tested`, json, credential: reader.token }
      await expectAnswer(service, put, 403, 'permission_missing')
      const told = await expect({ path: `${base}/stages?version=1.0.0` }, 400)
      assert.equal(told.json.details[0].pointer, '/query/package')
    })
  })

  it('stages are listed by package, version and stage, a page at a time', async () => {
    for (const [name, version] of [
      ['b', '1.0.0'],
      ['a', '1.10.0'],
      ['a', '1.9.0'],
    ] as const) {
      await site.npm.publish({ name, version })
      for (const stage of ['zeta', 'alpha']) await add(name, version, stage)
    }
    const paged = async (query: string): Promise<string[]> => {
      const found: string[] = []
      for (let after = ''; ; ) {
        const { items, next } = (await expect({ path: `${base}/stages?limit=1${query}${after}` })).json
        for (const { package: name, version, stage } of items) found.push(`${name}@${version} ${stage}`)
        if (next === null) return found
        after = `&after=${next}`
      }
    }
    const ofA = ['a@1.10.0 alpha', 'a@1.10.0 zeta', 'a@1.9.0 alpha', 'a@1.9.0 zeta']
    assert.deepEqual(await paged('&package=a'), ofA)
    assert.deepEqual(await paged('&package=a&version=1.9.0'), ofA.slice(2))
    assert.deepEqual(await paged('&package=a&version=1.9.0&stage=zeta'), ofA.slice(3))
    assert.deepEqual(await paged('&package=a&stage=alpha'), [ofA[0], ofA[2]])
    assert.deepEqual(await paged('&stage=zeta'), ['a@1.10.0 zeta', 'a@1.9.0 zeta', 'b@1.0.0 zeta'])
    const all = await paged('')
    assert.deepEqual(all.slice(0, 6), [...all].sort().slice(0, 6))
  })
})
