import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'

after(closeConnections)

forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine)
  })
  after(() => catalog.close())

  const put = (path: string, body: string, type?: string): Promise<Told> =>
    catalog.ask({
      method: 'PUT',
      path: `/raw/${path}`,
      body,
      headers: type === undefined ? {} : { 'content-type': type },
    })
  const read = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Told> =>
    catalog.ask({ method, path: `/raw/${path}`, headers })
  const historyOf = async (path: string): Promise<unknown[]> =>
    (await catalog.get(`/asset/history?path=${path}`)).items.map(({ mediaType }: { mediaType?: string }) => mediaType)

  describe('the media type of a path', () => {
    it('is that of its PUT, on GET, HEAD and a range, in its history and in its folder', async () => {
      const type = 'text/plain; charset=utf-8'
      assert.equal((await put('notes/a.txt', 'notes', type)).status, 201)
      for (const told of [
        await read('notes/a.txt'),
        await read('notes/a.txt', {}, 'HEAD'),
        await read('notes/a.txt', { range: 'bytes=1-2' }),
        await catalog.ask({ path: '/asset/content?path=notes/a.txt' }),
      ])
        assert.equal(told.headers['content-type'], type)
      assert.deepEqual(await historyOf('notes/a.txt'), [type])
      const { items } = await catalog.get('/assets/page?delimiter=/&prefix=notes/')
      assert.equal(items[0].mediaType, type)
    })

    it('is nothing where nothing was said, or what clients say of any body', async () => {
      for (const [path, type] of [
        ['none/said', undefined],
        ['none/form', 'application/x-www-form-urlencoded'],
      ] as const) {
        assert.equal((await put(path, path, type)).status, 201)
        assert.equal((await read(path)).headers['content-type'], 'application/octet-stream')
        assert.deepEqual(await historyOf(path), [undefined])
      }
    })

    it('is kept of what a browser would run, which goes out as bytes all the same', async () => {
      for (const type of ['text/html', 'image/svg+xml', 'text/javascript', 'application/xhtml+xml; charset=utf-8']) {
        const path = `run/${encodeURIComponent(type)}`
        assert.equal((await put(path, '<script>alert(1)</script>', type)).status, 201)
        const told = await read(path)
        assert.equal(told.headers['content-type'], 'application/octet-stream')
        assert.equal(told.headers['x-content-type-options'], 'nosniff')
        assert.match(String(told.headers['content-security-policy']), /^sandbox;/)
        assert.match(String(told.headers['content-disposition']), /^attachment/)
        assert.deepEqual(await historyOf(encodeURIComponent(`run/${type}`)), [type])
      }
    })

    it('belongs to the path and its revision: the same bytes may be two things', async () => {
      await put('two/a', 'same bytes', 'text/plain')
      await put('two/b', 'same bytes', 'application/json')
      assert.equal((await read('two/a')).headers['content-type'], 'text/plain')
      assert.equal((await read('two/b')).headers['content-type'], 'application/json')
      const { artifact } = (await put('two/c', 'same bytes')).json
      const asset = { path: 'two/d', artifactId: artifact.id, expectedRevision: 0, mediaType: 'image/png' }
      await catalog.expect({ method: 'PUT', path: '/asset', json: asset }, 200)
      assert.equal((await read('two/d')).headers['content-type'], 'image/png')
    })

    it('stays where the same bytes come again, and comes back with what is restored', async () => {
      await put('back/a', 'one', 'text/plain')
      const again = await put('back/a', 'one', 'application/json')
      assert.deepEqual([again.status, again.json.created, again.json.revision], [200, false, 1])
      assert.equal((await read('back/a')).headers['content-type'], 'text/plain')
      await put('back/a', 'two', 'application/json')
      const wanted = { path: 'back/a', sourceRevision: 1, expectedRevision: 2 }
      const restored = await catalog.expect({ method: 'POST', path: '/asset/restore', json: wanted }, 200)
      assert.equal(restored.json.mediaType, 'text/plain')
      assert.equal((await read('back/a')).headers['content-type'], 'text/plain')
      await catalog.expect({ method: 'DELETE', path: '/raw/back/a' }, 200)
      assert.deepEqual(await historyOf('back/a'), [undefined, 'text/plain', 'application/json', 'text/plain'])
    })

    it('is refused where it is none, and nothing is stored', async () => {
      for (const type of [
        'nonsense',
        'text/',
        'text/plain, text/html',
        'text/plain; charset',
        `text/${'x'.repeat(255)}`,
      ]) {
        const told = await put('bad/a', 'bytes', type)
        assert.deepEqual([told.status, told.json.code], [415, 'unsupported_media_type'], `${type}: ${told.text}`)
        assert.match(told.json.detail, /Content-Type .* media type/)
      }
      const asset = { path: 'bad/a', artifactId: crypto.randomUUID(), expectedRevision: 0, mediaType: 'nonsense' }
      const told = await catalog.ask({ method: 'PUT', path: '/asset', json: asset })
      assert.deepEqual([told.status, told.json.details[0].pointer], [400, '/mediaType'])
      assert.equal((await read('bad/a')).status, 404)
    })
  })

  describe('since when a path shows its file', () => {
    const dateOf = (told: Told): string => String(told.headers['last-modified'])
    const moved = (date: string, seconds: number): string => new Date(Date.parse(date) + seconds * 1000).toUTCString()

    it('is in Last-Modified of GET, HEAD and 304, and of an artifact', async () => {
      const { artifact } = (await put('since/a', 'bytes')).json
      const [revision] = (await catalog.get('/asset/history?path=since/a')).items
      const date = new Date(revision.createdAt).toUTCString()
      const got = await read('since/a')
      assert.equal(dateOf(got), date)
      assert.equal(dateOf(await read('since/a', {}, 'HEAD')), date)
      assert.equal(dateOf(await read('since/a', { 'if-none-match': String(got.headers['etag']) })), date)
      const content = await catalog.ask({ path: `/artifacts/${artifact.id}/content` })
      assert.match(dateOf(content), / GMT$/)
      const known = { 'if-modified-since': dateOf(content) }
      assert.equal((await catalog.ask({ path: `/artifacts/${artifact.id}/content`, headers: known })).status, 304)
    })

    it('decides If-Modified-Since and If-Unmodified-Since, to the second', async () => {
      await put('since/b', 'bytes')
      const date = dateOf(await read('since/b'))
      for (const method of ['GET', 'HEAD'])
        for (const [name, value, status] of [
          ['if-modified-since', date, 304],
          ['if-modified-since', moved(date, 60), 304],
          ['if-modified-since', moved(date, -1), 200],
          ['if-modified-since', 'yesterday', 200],
          ['if-unmodified-since', date, 200],
          ['if-unmodified-since', moved(date, 60), 200],
          ['if-unmodified-since', moved(date, -1), 412],
          ['if-unmodified-since', 'yesterday', 200],
        ] as const)
          assert.equal((await read('since/b', { [name]: value }, method)).status, status, `${method} ${name}: ${value}`)
    })

    it('counts for nothing where a tag is there', async () => {
      await put('since/c', 'bytes')
      const got = await read('since/c')
      const [tag, date, other] = [String(got.headers['etag']), dateOf(got), `"sha256:${'0'.repeat(64)}"`]
      for (const [headers, status] of [
        [{ 'if-none-match': other, 'if-modified-since': date }, 200],
        [{ 'if-none-match': tag, 'if-modified-since': moved(date, -60) }, 304],
        [{ 'if-match': tag, 'if-unmodified-since': moved(date, -60) }, 200],
        [{ 'if-match': other, 'if-unmodified-since': date }, 412],
      ] as const)
        assert.equal((await read('since/c', headers)).status, status, JSON.stringify(headers))
    })

    it('is later for each file also where the clock is turned back', async () => {
      await put('since/e', 'one')
      const first = dateOf(await read('since/e'))
      const { clock } = catalog.service
      clock.advance(-60_000)
      try {
        await put('since/e', 'two')
        const second = await read('since/e', { 'if-modified-since': first })
        assert.deepEqual([second.status, second.text], [200, 'two'])
        await catalog.expect({ method: 'DELETE', path: '/raw/since/e' }, 200)
        await put('since/e', 'three')
        const third = await read('since/e', { 'if-modified-since': dateOf(second) })
        assert.deepEqual([third.status, third.text], [200, 'three'])
      } finally {
        clock.advance(60_000)
      }
    })

    it('is later for each file that it shows, an old one that is restored as well', async () => {
      await put('since/d', 'one')
      await put('since/d', 'two')
      const wanted = { path: 'since/d', sourceRevision: 1, expectedRevision: 2 }
      const { json } = await catalog.expect({ method: 'POST', path: '/asset/restore', json: wanted }, 200)
      assert.equal(dateOf(await read('since/d')), new Date(json.createdAt).toUTCString())
    })
  })
})
