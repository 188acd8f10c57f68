import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { digestOf } from '../harness/inspection.ts'
import { addPackage } from '../harness/packages.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

const paths = [
  ...Array.from({ length: 40 }, (_, n) => `many/${n}`),
  ...['a', 'a.b', 'a/b', 'a/b/c', 'a/b/d', 'a0', 'é/ü', 'z/<b>&"', 'z/\u{10ffff}/x', 'z/\u{10ffff}y'],
]

forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine)
    for (const path of paths) await put(path)
  })
  after(() => catalog.close())

  const address = (path: string): string => path.split('/').map(encodeURIComponent).join('/')
  const put = (path: string): Promise<Told> =>
    catalog.expect({ method: 'PUT', path: `/raw/${address(path)}`, body: `bytes of ${path}` }, 201)

  /** All entries of a folder, by pages of so many. */
  const listing = async (prefix: string, limit: number): Promise<string[]> => {
    const found: string[] = []
    for (let after = ''; ; ) {
      const query = new URLSearchParams({ prefix, delimiter: '/', limit: String(limit) })
      if (after !== '') query.set('after', after)
      const { items, folders, next } = await catalog.get(`/assets/page?${query}`)
      const page: string[] = [...items.map(({ path }: { path: string }) => path), ...folders]
      assert.ok(page.length <= limit)
      if (next !== null) assert.equal(page.length, limit)
      found.push(...page)
      if (next === null) return found
      after = next
    }
  }

  const below = (prefix: string): string[] => [
    ...new Set(
      paths
        .filter((path) => path.startsWith(prefix))
        .map((path) => {
          const slash = path.indexOf('/', prefix.length)
          return slash === -1 ? path : path.slice(0, slash + 1)
        }),
    ),
  ]

  describe('a listing of a folder', () => {
    for (const limit of [1, 2, 3, 7, 100])
      it(`shows each file and each folder once, in pages of ${limit}`, async () => {
        for (const prefix of ['', 'a', 'a/', 'a/b/', 'many/', 'm', 'z/', 'none/'])
          assert.deepEqual((await listing(prefix, limit)).sort(), below(prefix).sort(), prefix)
      })

    it('tells of each file how large it is, its digest, who put it there and when', async () => {
      const { items } = await catalog.get('/assets/page?delimiter=/&prefix=a/')
      assert.ok(Math.abs(Date.parse(items[0].updatedAt) - catalog.service.clock.now()) < 600_000)
      assert.deepEqual(items, [
        {
          path: 'a/b',
          revision: 1,
          artifactId: items[0].artifactId,
          size: '12',
          sha256: digestOf('bytes of a/b'),
          actor: `account:${catalog.writer.id}`,
          actorName: 'writer',
          updatedAt: items[0].updatedAt,
        },
      ])
    })

    it('goes on only after a page of the same folder', async () => {
      const { next } = await catalog.get('/assets/page?delimiter=/&prefix=a&limit=1')
      for (const query of [`prefix=a&after=${next}`, `delimiter=/&prefix=z/&after=${next}`, 'delimiter=x'])
        await catalog.expect({ path: `/assets/page?${query}` }, 400, 'invalid_request')
    })
  })

  describe('GET of an address that ends with a slash', () => {
    const get = (path: string, headers = {}, credential = catalog.reader.token): Promise<Told> =>
      catalog.ask({ path: `/raw/${path}`, headers, credential })

    it('lists the folder', async () => {
      const { items, folders, next } = (await get('a/b/?limit=1')).json
      assert.deepEqual([items.map(({ path }: { path: string }) => path), folders], [['a/b/c'], []])
      assert.deepEqual((await get(`a/b/?after=${next}`)).json.items[0].path, 'a/b/d')
      assert.deepEqual((await get('')).json.folders, ['a/', 'many/', 'z/', 'é/'])
    })

    it('is a page for a browser, in which nothing runs', async () => {
      const told = await get('z/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
      assert.equal(told.headers['content-type'], 'text/html; charset=utf-8')
      assert.match(String(told.headers['content-security-policy']), /^default-src 'none'/)
      assert.match(told.text, /<a href="[^"]+\/raw\/z\/%3Cb%3E%26%22">&lt;b&gt;&amp;&quot;<\/a>/)
      assert.doesNotMatch(told.text, /<b>/)
      assert.match(told.text, /<a href="[^"]+\/raw\/">one folder up/)
    })

    it('has links that lead to the same places when the slash of its address is encoded', async () => {
      const linksOf = async (path: string): Promise<string[]> =>
        [...(await get(path, { accept: 'text/html' })).text.matchAll(/<a href="([^"]+)"/g)].map(
          ([, link = '']) =>
            new URL(link, `${catalog.service.url}/api/v1/repositories/${catalog.repository}/raw/${path}`).pathname,
        )
      const links = await linksOf('a/b%2F')
      assert.deepEqual(links, await linksOf('a/b/'))
      const raw = `/api/v1/repositories/${catalog.repository}/raw`
      assert.deepEqual(links, [`${raw}/a/`, `${raw}/a/b/c`, `${raw}/a/b/d`])
    })

    it('is refused like other addresses, and is for whoever may list', async () => {
      assert.equal((await get('none/')).status, 404)
      for (const path of ['a//', '/', '../', 'a/b?after=a/b', 'a/?after=xx'])
        assert.equal((await get(path)).status, 400, path)
      const bindings = [binding(catalog.repository, 'content.read')]
      const account = await createServiceAccount(catalog.service, bindings)
      const { secret } = await activeKey(catalog.service, account.id, { bindings })
      assert.deepEqual([(await get('a/', {}, secret)).status, (await get('a/b', {}, secret)).status], [403, 200])
    })
  })

  describe('what leads to a file', () => {
    it('is a page of paths, and the version that it is', async () => {
      const id = await addPackage(catalog.service, catalog.writer.token, catalog.repository, {
        name: 'led',
        version: '1.0.0',
      })
      const shown = ['led/3', 'led/1', 'led/2']
      for (const path of shown) {
        const json = { path, artifactId: id, expectedRevision: 0 }
        await catalog.expect({ method: 'PUT', path: '/asset', json }, 200)
      }
      const first = await catalog.get(`/artifacts/${id}/paths?limit=2`)
      assert.deepEqual(first.items, [
        { path: 'led/1', revision: 1 },
        { path: 'led/2', revision: 1 },
      ])
      assert.deepEqual(first.packages, [{ group: '', name: 'led', version: '1.0.0' }])
      await catalog.expect({ method: 'DELETE', path: '/raw/led/3' }, 200)
      const second = await catalog.get(`/artifacts/${id}/paths?after=${first.next}`)
      assert.deepEqual([second.items, second.next], [[], null])
      await catalog.expect({ path: `/artifacts/${catalog.reader.id}/paths` }, 404)
      await catalog.expect({ path: `/artifacts/${id}/paths?after=xx` }, 400)
    })
  })
})
