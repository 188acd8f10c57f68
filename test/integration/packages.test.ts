import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, it } from 'node:test'
import { packagePageManifestBytesMax } from '../../src/kernel/limits/packages.ts'
import { hour } from '../../src/kernel/units.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { addPackage, publishPackage, register, registrationOf } from '../harness/packages.ts'
import { createPerson, createRepository, grant } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'
import { activeKey, binding, createServiceAccount, freshName } from '../harness/service-keys.ts'
import type { TestManifest } from '../harness/zip.ts'

const repository = 'one'
const base = `/api/v1/repositories/${repository}`

after(closeConnections)

forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine)
  })
  after(() => catalog.inspection.inOrder())
  after(() => catalog.close())
  afterEach(() => catalog.inspection.sums())

  const get = (path: string, status = 200): Promise<Told> =>
    expectAnswer(catalog.service, { path: `${base}${path}`, credential: catalog.reader.token }, status)
  const registered = (id: string): Promise<Told> => register(catalog.service, catalog.writer.token, repository, id)
  const published = (manifest: TestManifest): Promise<string> =>
    publishPackage(catalog.service, catalog.writer.token, repository, manifest)
  const added = (manifest: TestManifest): Promise<string> =>
    addPackage(catalog.service, catalog.writer.token, repository, manifest)
  describe('registering', () => {
    it('makes a file the version that its manifest names, and says so as often as it is asked', async () => {
      const manifest = { group: 'Tools/Net', name: 'Probe', version: '1.2.3-rc.1+build.7', title: 'Probe', tags: ['a'] }
      const id = await published(manifest)
      for (let n = 0; n < 2; n++) {
        const told = await registered(id)
        assert.equal(told.status, 200, told.text)
        const { group, name, version } = manifest
        assert.deepEqual(told.json, { group, name, version, artifactId: id, manifest })
      }
      assert.deepEqual(await catalog.actions(id), ['artifact.publish', 'package.register'])
    })

    it('takes a manifest with a byte order mark, without group, or with one that is null', async () => {
      for (const [name, group] of [
        ['bare', {}],
        ['null', { group: null }],
        ['empty', { group: '' }],
      ] as const) {
        const id = await published({ ...group, name, version: '1.0.0' } as TestManifest)
        assert.equal((await registered(id)).json.group, '')
      }
    })

    it('refuses what another file is, whatever the case and the build metadata', async () => {
      const first = await added({ group: 'A/b', name: 'Same', version: '1.0.0+one' })
      for (const other of [
        { group: 'A/b', name: 'Same', version: '1.0.0+one' },
        { group: 'a/B', name: 'sAME', version: '1.0.0' },
        { group: 'A/B', name: 'SAME', version: '1.0.0+two' },
      ]) {
        const id = await published(other)
        const told = await registered(id)
        assert.equal(told.status, 409, told.text)
        assert.equal(told.json.code, 'version_exists')
        assert.ok(told.json.detail.includes(first), 'it says which')
        assert.deepEqual(await catalog.actions(id), ['artifact.publish'])
      }
      await added({ group: 'A', name: 'Same', version: '1.0.0' })
      await added({ name: 'Same', version: '1.0.0' })
      await added({ group: 'A/b', name: 'Same', version: '1.0.0-0' })
    })

    it('lets one of several files win that are the same version at once', async () => {
      for (let round = 0; round < 6; round++) {
        const manifest = { name: freshName('race'), version: '1.0.0' }
        const ids = await Promise.all(Array.from({ length: 4 }, () => published(manifest)))
        const told = await Promise.all([...ids, ...ids].map(registered))
        const winners = new Set(told.filter(({ status }) => status === 200).map(({ json }) => json.artifactId))
        assert.equal(winners.size, 1, 'one file is the version')
        assert.equal(told.filter(({ status }) => status === 200).length, 2, 'and it is told so both times')
        for (const { status, json, text } of told) if (status !== 200) assert.equal(json.code, 'version_exists', text)
        const [winner] = winners
        assert.deepEqual(await catalog.actions(String(winner)), ['artifact.publish', 'package.register'])
      }
    })

    it('and deleting the file exclude each other', async () => {
      for (let round = 0; round < 8; round++) {
        const manifest = { name: freshName('gone'), version: '1.0.0' }
        const id = await published(manifest)
        const [told] = await Promise.all([registered(id), catalog.removed(id)])
        assert.ok(told.status === 200 || told.status === 404, told.text)
        await get(`/packages/resolve?name=${manifest.name}`, 404)
        assert.equal((await catalog.restore(id)).status, 200)
        await get(`/packages/resolve?name=${manifest.name}`, told.status)
      }
    })

    it('is refused for what is no file, a session under way, and to who may only read', async () => {
      assert.equal((await registered(randomUUID())).status, 404)
      const opened = await catalog.service.ask({
        path: `${base}/uploads`,
        credential: catalog.writer.token,
        headers: { 'idempotency-key': randomUUID() },
        json: newFile('x', 'x').descriptor,
      })
      assert.equal((await registered(opened.json.id)).status, 404)
      const id = await published({ name: freshName('read'), version: '1.0.0' })
      const request = { method: 'POST', path: registrationOf(repository, id), credential: catalog.reader.token }
      await expectAnswer(catalog.service, request, 403, 'permission_missing')
      const stranger = await createPerson(catalog.service, freshName('stranger'))
      await expectAnswer(catalog.service, { ...request, credential: stranger.token }, 404, 'not_found')
      await createRepository(catalog.service, 'other')
      await grant(catalog.service, catalog.writer, 'other', 'write')
      const elsewhere = { ...request, path: registrationOf('other', id), credential: catalog.writer.token }
      await expectAnswer(catalog.service, elsewhere, 404, 'not_found')
    })
  })

  describe('a version whose file is deleted', () => {
    it('is free for another file, and comes back with its own if nobody took it', async () => {
      const manifest = { name: freshName('freed'), version: '2.0.0' }
      const first = await added(manifest)
      await catalog.removed(first)
      await get(`/packages/resolve?name=${manifest.name}`, 404)
      assert.deepEqual((await get(`/packages?name=${manifest.name}`)).json.items, [])
      assert.equal((await registered(first)).status, 404)
      assert.equal((await catalog.restore(first)).status, 200)
      assert.equal((await get(`/packages/resolve?name=${manifest.name}`)).json.artifactId, first)
      await catalog.removed(first)
      const second = await added(manifest)
      const told = await catalog.restore(first)
      assert.equal(told.status, 409, told.text)
      assert.equal(told.json.code, 'version_exists')
      await get(`/artifacts/${first}`, 404)
      assert.equal((await get(`/packages/resolve?name=${manifest.name}`)).json.artifactId, second)
      await catalog.removed(second)
      assert.equal((await catalog.restore(first)).status, 200)
      assert.equal((await catalog.restore(second)).status, 409)
      assert.equal((await get(`/packages/resolve?name=${manifest.name}`)).json.artifactId, first)
    })

    it('goes to one of those who want it at once', async () => {
      for (let round = 0; round < 6; round++) {
        const manifest = { name: freshName('wanted'), version: '2.0.0' }
        const first = await added(manifest)
        await catalog.removed(first)
        const second = await published(manifest)
        const [back, taken] = await Promise.all([catalog.restore(first), registered(second)])
        assert.deepEqual([back.status, taken.status].toSorted(), [200, 409], `${back.text} ${taken.text}`)
        const chosen = (await get(`/packages/resolve?name=${manifest.name}`)).json.artifactId
        assert.equal(chosen, back.status === 200 ? first : second)
      }
    })

    it('is forgotten when the file can no longer be brought back', async () => {
      const id = await added({ name: freshName('forgotten'), version: '2.0.0' })
      await catalog.removed(id)
      await catalog.pass(25 * hour)
      await catalog.inspection.upkeep()
      const rows = await inDatabase(catalog.service, (q) =>
        q.selectFrom('freed_packages').select('artifact_id').where('artifact_id', '=', id).execute(),
      )
      assert.deepEqual(rows, [])
    })
  })

  describe('the list', () => {
    type Item = { group: string; name: string; version: string; artifactId: string }
    const versions = ['1.0.0', '1.0.0-rc.2', '1.0.0-rc.10', '10.0.0', '2.0.0+x']
    const precedence = ['1.0.0-rc.2', '1.0.0-rc.10', '1.0.0', '2.0.0+x', '10.0.0']
    const all: Item[] = []
    const lists = '/packages?'
    before(async () => {
      await createRepository(catalog.service, 'lists')
      for (const person of [catalog.reader, catalog.writer]) await grant(catalog.service, person, 'lists', 'write')
      for (const group of ['', 'B/c', 'a'])
        for (const name of ['zeta', 'Alpha', 'mid'])
          for (const version of versions) {
            const manifest = { group, name, version }
            all.push({
              ...manifest,
              artifactId: await addPackage(catalog.service, catalog.writer.token, 'lists', manifest),
            })
          }
    })

    const listed = async (query: string): Promise<{ items: Item[]; next: string | null; groups: unknown[] }> => {
      const path = `/api/v1/repositories/lists${lists}${query}`
      return (await expectAnswer(catalog.service, { path, credential: catalog.reader.token }, 200)).json
    }
    const everyPage = async (query: string, limit: number): Promise<Item[]> => {
      const items: Item[] = []
      let after = ''
      for (;;) {
        const page = await listed(`${query}&limit=${limit}${after}`)
        assert.ok(page.items.length <= limit)
        items.push(...page.items)
        if (page.next === null) return items
        after = `&after=${page.next}`
      }
    }
    const bytes = (a: string, b: string): number =>
      Buffer.compare(Buffer.from(a.toLowerCase()), Buffer.from(b.toLowerCase()))
    const by = {
      group: (a: Item, b: Item) => bytes(a.group, b.group),
      name: (a: Item, b: Item) => bytes(a.name, b.name),
      version: (a: Item, b: Item) => precedence.indexOf(a.version) - precedence.indexOf(b.version),
    }
    const orders = {
      group: ['group', 'name', 'version'],
      name: ['name', 'group', 'version'],
      version: ['version', 'name', 'group'],
    } as const

    it('has every version once in each order, in pages of any size', async () => {
      for (const sort of ['group', 'name', 'version'] as const)
        for (const direction of ['asc', 'desc'])
          for (const filter of ['', 'group=', 'group=b/C', 'name=ALPHA', 'group=a&name=mid', 'group=nothing'])
            for (const limit of [1, 7, 100]) {
              const wanted = new URLSearchParams(filter)
              const group = wanted.get('group')
              const name = wanted.get('name')
              const expected = all
                .filter((item) => group === null || item.group.toLowerCase() === group.toLowerCase())
                .filter((item) => name === null || item.name.toLowerCase() === name.toLowerCase())
                .toSorted((a, b) => {
                  for (const key of orders[sort]) if (by[key](a, b) !== 0) return by[key](a, b)
                  return 0
                })
              if (direction === 'desc') expected.reverse()
              if (limit === 1 && expected.length > 15) continue
              const query = `sort=${sort}&direction=${direction}&${filter}`
              const items = await everyPage(query, limit)
              assert.deepEqual(
                items.map(({ artifactId }) => artifactId),
                expected.map(({ artifactId }) => artifactId),
                query,
              )
            }
    })

    it('shows by what one chooses: size, time and stages', async () => {
      const name = freshName('chosen')
      const id = await added({ name, version: '1.0.0' })
      for (const stage of ['tested', 'approved'])
        await catalog.expect({ method: 'PUT', path: `/artifacts/${id}/stages/${stage}`, json: {} }, 200)
      const { size, publishedAt } = (await get(`/packages/resolve?name=${name}`)).json
      const [item] = (await get(`/packages?name=${name}`)).json.items
      assert.deepEqual([item.size, item.publishedAt, item.stages], [size, publishedAt, ['approved', 'tested']])
    })

    it('shows versions with their manifests', async () => {
      const [item] = (await listed('name=mid&group=a&limit=1')).items
      const { group, name, version } = item ?? assert.fail('nothing')
      assert.deepEqual(item, { ...item, manifest: { group, name, version } })
    })

    it('puts the versions of a page together by group or package where that is asked for', async () => {
      assert.deepEqual((await listed('')).groups, [])
      assert.deepEqual((await listed('groupBy=none')).groups, [])
      const ids = (group: string, name?: string): string[] =>
        all
          .filter((item) => item.group === group && (name === undefined || item.name === name))
          .toSorted((a, b) => by.name(a, b) || by.version(a, b))
          .map(({ artifactId }) => artifactId)
      assert.deepEqual((await listed('groupBy=group&limit=100')).groups, [
        { group: '', name: null, artifactIds: ids('') },
        { group: 'a', name: null, artifactIds: ids('a') },
        { group: 'B/c', name: null, artifactIds: ids('B/c') },
      ])
      const page = await listed('groupBy=package&limit=7')
      assert.deepEqual(page.groups, [
        { group: '', name: 'Alpha', artifactIds: ids('', 'Alpha') },
        { group: '', name: 'mid', artifactIds: ids('', 'mid').slice(0, 2) },
      ])
    })

    it('refuses cursors of another listing and those that are none', async () => {
      const { next } = await listed('limit=2')
      assert.ok(next !== null)
      const refused = async (query: string): Promise<void> => {
        const path = `/api/v1/repositories/lists/packages?${query}`
        await expectAnswer(catalog.service, { path, credential: catalog.reader.token }, 400, 'invalid_request')
      }
      for (const query of ['sort=name', 'direction=desc', 'group=', 'name=mid']) await refused(`${query}&after=${next}`)
      for (const after of ['', 'x', `${next}A`, next.slice(0, -2), Buffer.from('a\nb\nc\nd').toString('base64url')])
        await refused(`after=${after}`)
      for (const query of ['sort=size', 'direction=up', 'groupBy=name', 'limit=0', 'limit=101', 'name=', 'what=1'])
        await refused(query)
      const other = `${base}/packages?after=${next}`
      await expectAnswer(catalog.service, { path: other, credential: catalog.reader.token }, 400, 'invalid_request')
    })

    it('ends a page early where its manifests are long, and goes on', async () => {
      await createRepository(catalog.service, 'long')
      await grant(catalog.service, catalog.writer, 'long', 'write')
      const count = 7
      const readme = 'r'.repeat(Math.floor(packagePageManifestBytesMax / 5))
      for (let n = 0; n < count; n++)
        await addPackage(catalog.service, catalog.writer.token, 'long', { name: 'long', version: `${n}.0.0`, readme })
      const found: string[] = []
      for (let after = '', pages = 0; ; pages++) {
        const path = `/api/v1/repositories/long/packages?limit=100${after}`
        const { items, next } = (await expectAnswer(catalog.service, { path, credential: catalog.writer.token }, 200))
          .json
        assert.ok(items.length <= 4)
        found.push(...items.map((item: Item) => item.version))
        if (next === null) {
          assert.equal(pages, 1)
          break
        }
        after = `&after=${next}`
      }
      assert.deepEqual(
        found,
        Array.from({ length: count }, (_, n) => `${n}.0.0`),
      )
    })
  })

  describe('downloading', () => {
    it('sends the version that resolving chooses, with conditions, ranges and HEAD as everywhere', async () => {
      const name = freshName('sent')
      const old = await added({ name, version: '1.0.0' })
      const id = await added({ name, version: '1.1.0+meta' })
      await added({ name, version: '2.0.0-rc.1' })
      const whole = await get(`/packages/content?name=${name}`)
      const direct = await get(`/artifacts/${id}/content`)
      assert.ok(whole.bytes.equals(direct.bytes))
      assert.equal(whole.headers['x-svc-artifact-id'], id)
      assert.equal(whole.headers['x-svc-package-version'], '1.1.0+meta')
      assert.equal(whole.headers.etag, direct.headers.etag)
      assert.equal(whole.headers['content-disposition'], direct.headers['content-disposition'])
      const path = `${base}/packages/content?name=${name}`
      const ask = (headers: Record<string, string>, method = 'GET', query = ''): Promise<Told> =>
        catalog.service.ask({ method, path: path + query, credential: catalog.reader.token, headers })
      const part = await ask({ range: 'bytes=0-3' })
      assert.equal(part.status, 206)
      assert.ok(part.bytes.equals(whole.bytes.subarray(0, 4)))
      const unchanged = await ask({ 'if-none-match': String(whole.headers.etag) })
      assert.equal(unchanged.status, 304)
      assert.equal(unchanged.headers['x-svc-artifact-id'], id)
      const head = await ask({}, 'HEAD')
      assert.equal(head.headers['content-length'], String(whole.bytes.byteLength))
      assert.equal((await ask({}, 'GET', '&range=%3C1.1.0')).headers['x-svc-artifact-id'], old)
      assert.equal((await ask({}, 'GET', '&range=%3E5')).status, 404)
      assert.equal((await ask({ range: `bytes=${whole.bytes.byteLength}-` })).status, 416)
    })

    it('needs content.read, as resolving needs package.read', async () => {
      const name = freshName('kept')
      await added({ name, version: '1.0.0' })
      const key = async (action: 'content.read' | 'package.read'): Promise<string> => {
        const bindings = [binding(repository, action)]
        const account = await createServiceAccount(catalog.service, bindings)
        return (await activeKey(catalog.service, account.id, { bindings })).secret
      }
      const [content, packages] = [await key('content.read'), await key('package.read')]
      const asked = (path: string, credential: string) => ({ path: `${base}${path}?name=${name}`, credential })
      await expectAnswer(catalog.service, asked('/packages/content', content), 200)
      await expectAnswer(catalog.service, asked('/packages/content', packages), 403, 'permission_missing')
      for (const path of ['/packages', '/packages/resolve']) {
        await expectAnswer(catalog.service, asked(path, packages), 200)
        await expectAnswer(catalog.service, asked(path, content), 403, 'permission_missing')
      }
      const stranger = await createPerson(catalog.service, freshName('stranger'))
      for (const path of ['/packages', '/packages/resolve', '/packages/content'])
        await expectAnswer(catalog.service, asked(path, stranger.token), 404, 'not_found')
    })
  })

  it('never takes a file for a package that nobody registered', async () => {
    const name = freshName('quiet')
    await publish(catalog.service, catalog.writer.token, repository, newFile('x', 'x'))
    await published({ name, version: '1.0.0' })
    await get(`/packages/resolve?name=${name}`, 404)
  })
})
