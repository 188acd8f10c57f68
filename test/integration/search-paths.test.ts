import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { digestOf } from '../harness/inspection.ts'
import { encoded } from '../harness/raw-paths.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

type Filters = Readonly<Record<string, string>>

interface Hit {
  readonly id: string
  readonly name: string
  readonly paths: string[]
  readonly morePaths: boolean
}

forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine)
  })
  after(() => catalog.inspection.inOrder())
  after(() => catalog.close())

  const hits = async (filters: Filters): Promise<Hit[]> =>
    (await catalog.get(`/search?${new URLSearchParams(filters)}`)).items
  const ids = async (filters: Filters): Promise<string[]> => (await hits(filters)).map(({ id }) => id)
  const put = async (path: string, body: string): Promise<string> =>
    (await catalog.ask({ method: 'PUT', path: `/raw/${encoded(path)}`, body })).json.artifact.id
  const point = (path: string, artifactId: string, expectedRevision = 0): Promise<Told> =>
    catalog.expect({ method: 'PUT', path: '/asset', json: { path, artifactId, expectedRevision } }, 200)

  const end = (path: string): Promise<Told> => catalog.expect({ method: 'DELETE', path: `/raw/${encoded(path)}` }, 200)

  describe('a search by path', () => {
    it('finds what a path with that part shows now, in any case, and nothing that it showed before', async () => {
      const old = await put('Straße/Nightly-7/app.bin', 'old')
      assert.deepEqual(await ids({ path: 'strasse/NIGHTLY' }), [old])
      assert.deepEqual(await ids({ path: 'y-7/a' }), [old])
      assert.deepEqual(await ids({ path: 'nightly', q: 'app' }), [old])
      assert.deepEqual(await ids({ path: 'nightly', q: 'nightly' }), [])
      assert.deepEqual(await ids({ path: 'nightly 7' }), [])
      const newer = await put('Straße/Nightly-7/app.bin', 'newer')
      assert.deepEqual(await ids({ path: 'nightly-7' }), [newer])
      await end('Straße/Nightly-7/app.bin')
      assert.deepEqual(await ids({ path: 'nightly-7' }), [])
      const again = { path: 'Straße/Nightly-7/app.bin', sourceRevision: 1, expectedRevision: 3 }
      await catalog.expect({ method: 'POST', path: '/asset/restore', json: again }, 200)
      assert.deepEqual(await ids({ path: 'nightly-7' }), [old])
      assert.deepEqual(await ids({ q: 'app' }), [old, newer])
    })

    it('follows a path that is pointed at another file, and knows both when a file has several', async () => {
      const [one, two] = [await catalog.published(), await catalog.published()]
      await point('moved/here', one)
      await point('also/there', one)
      assert.deepEqual(await ids({ path: 'moved/' }), [one])
      await point('moved/here', two, 1)
      assert.deepEqual(await ids({ path: 'moved/' }), [two])
      assert.deepEqual(await ids({ path: 'also/' }), [one])
      assert.deepEqual(await ids({ path: 'e/also' }), [])
    })

    it('knows a file with more paths than the index takes by each of them, and by no other', async () => {
      const file = await catalog.published()
      const other = await put('lonely/file', 'lonely')
      for (let n = 0; n < 40; n++) await point(`many/${String(n).padStart(2, '0')}/x`, file)
      assert.deepEqual(await ids({ path: 'many/39' }), [file])
      assert.deepEqual(await ids({ path: 'many/40' }), [])
      assert.deepEqual(await ids({ path: 'lonely' }), [other])
      const [shown] = await hits({ path: 'many/3', paths: 'true' })
      assert.deepEqual(
        [shown?.paths.length, shown?.paths[0], shown?.paths[9], shown?.morePaths],
        [10, 'many/00/x', 'many/09/x', true],
      )
      for (let n = 8; n < 40; n++) await end(`many/${String(n).padStart(2, '0')}/x`)
      assert.deepEqual(await ids({ path: 'many/07' }), [file])
      assert.deepEqual(await ids({ path: 'many/08' }), [])
    })

    it('tells the paths of each hit only where they are asked for', async () => {
      const id = await put('told/of.bin', 'told')
      const [silent] = await hits({ q: 'of.bin' })
      assert.deepEqual([silent?.id, silent !== undefined && 'paths' in silent], [id, false])
      const [telling] = await hits({ q: 'of.bin', paths: 'true' })
      assert.deepEqual([telling?.paths, telling?.morePaths], [['told/of.bin'], false])
      const unnamed = await catalog.published('no path')
      assert.deepEqual((await hits({ sha256: digestOf('no path'), paths: 'true' }))[0]?.paths, [])
      assert.deepEqual(await ids({ sha256: digestOf('no path') }), [unnamed])
    })

    it('and what tells paths need asset.read beside artifact.list', async () => {
      const bindings = [binding(catalog.repository, 'artifact.list')]
      const account = await createServiceAccount(catalog.service, bindings)
      const { secret: credential } = await activeKey(catalog.service, account.id, { bindings })
      await catalog.expect({ path: '/search?q=x', credential }, 200)
      for (const query of ['path=x', 'paths=true'])
        await catalog.expect({ path: `/search?${query}`, credential }, 403, 'permission_missing')
    })
  })

  describe('a search by digest', () => {
    it('finds every file with these bytes, deleted ones not', async () => {
      const [one, two] = [await catalog.published('same'), await catalog.published('same')]
      const sha256 = digestOf('same')
      assert.deepEqual(await ids({ sha256 }), [one, two])
      assert.deepEqual(await ids({ sha256, q: 'none' }), [])
      assert.equal((await catalog.remove(one)).json.outcome, 'deleted')
      assert.deepEqual(await ids({ sha256 }), [two])
      await catalog.restore(one)
      assert.deepEqual(await ids({ sha256 }), [one, two])
      assert.deepEqual(await ids({ sha256: digestOf('other') }), [])
    })
  })

  describe('the newest first', () => {
    it('is the same pages backwards, and a cursor of one order is none of the other', async () => {
      for (let n = 0; n < 105; n++) await catalog.published(`of many ${n}`)
      const all = async (order: string): Promise<string[]> => {
        const found: string[] = []
        for (let cursor = ''; ; ) {
          const page = await catalog.get(`/search?q=file&order=${order}${cursor}`)
          found.push(...page.items.map(({ id }: Hit) => id))
          if (page.next === null) return found
          cursor = `&after=${page.next}`
          const other = order === 'asc' ? 'desc' : 'asc'
          await catalog.expect({ path: `/search?q=file&order=${other}${cursor}` }, 400, 'invalid_request')
        }
      }
      const oldestFirst = await all('asc')
      assert.ok(oldestFirst.length > 105)
      assert.deepEqual(await all('desc'), oldestFirst.toReversed())
    })
  })

  it('refuses what no digest, path or order is', async () => {
    for (const query of [
      'sha256=AB',
      'path=',
      'path=a%0Ab',
      'paths=yes',
      'order=newest',
      'after=desc.1',
      'path=a&path=b',
    ])
      await catalog.expect({ path: `/search?${query}` }, 400)
  })
})
