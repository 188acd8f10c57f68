import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { consoleFile } from '../../src/features/operating/console/console.ts'
import { ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { startService, type TestService } from '../harness/service.ts'

after(closeConnections)

const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types svc-worker',
].join('; ')

const scriptIn = ({ text }: Told): string => /src="\.\/(assets\/[^"]+\.js)"/.exec(text)?.[1] ?? assert.fail(text)

forEachEngine((engine) => {
  let service: TestService
  before(async () => {
    service = await startService(engine, { roles: { gateway: 'api', worker: false } })
  })
  after(() => service.stop())
  const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Told> =>
    service.ask({ path, headers })

  describe('the console', () => {
    it('is one page at every address below it, guarded, and known again', async () => {
      const index = await get('/console/')
      assert.equal(index.status, 200)
      assert.equal(index.headers['content-type'], 'text/html; charset=utf-8')
      assert.equal(index.headers['content-security-policy'], policy)
      assert.equal(index.headers['x-content-type-options'], 'nosniff')
      assert.equal(index.headers['referrer-policy'], 'no-referrer')
      assert.equal(index.headers['cache-control'], 'no-cache')
      assert.match(index.text, /<base href="\/console\/">/)
      assert.doesNotMatch(index.text, /<style|\son[a-z]+=|https?:\/\//)
      for (const path of ['/console/r/releases/files/a/b.tar.gz', '/console/search?q=x', '/console/sign-in'])
        assert.equal((await get(path)).text, index.text, path)
      const again = await get('/console/', { 'if-none-match': String(index.headers['etag']) })
      assert.deepEqual([again.status, again.text], [304, ''])
      const head = await service.ask({ method: 'HEAD', path: '/console/' })
      assert.deepEqual([head.status, head.text], [200, ''])
    })

    it('gives its files for good, as small as the client takes them', async () => {
      const path = `/console/${scriptIn(await get('/console/'))}`
      const plain = await get(path)
      assert.equal(plain.headers['content-type'], 'text/javascript; charset=utf-8')
      assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
      assert.equal(plain.headers['content-encoding'], undefined)
      for (const [accept, coding, decoded] of [
        ['gzip, deflate, br', 'br', brotliDecompressSync],
        ['gzip;q=1.0, br;q=0', 'gzip', gunzipSync],
      ] as const) {
        const coded = await service.ask({ path, headers: { 'accept-encoding': accept } })
        assert.equal(coded.headers['content-encoding'], coding)
        assert.match(String(coded.headers['vary']), /Accept-Encoding/)
        assert.equal(decoded(coded.bytes).toString(), plain.text)
      }
    })

    it('has no page where a script is asked for that is not there', async () => {
      assert.equal((await get('/console/assets/gone-12345678.js')).status, 404)
      assert.equal((await get('/console/assets/..%2findex.html')).status, 404)
    })

    it('is found without the slash', async () => {
      const found = await get('/console')
      assert.equal(found.status, 200)
      assert.match(found.text, /<base href="\/console\/">/)
    })

    it('knows the path that a proxy gave the service', async () => {
      await service.restart({ SVC_BASE_URL: 'https://example.org/files' })
      const page = await ask(service.url, { path: '/files/console/r/x' })
      assert.match(page.text, /<base href="\/files\/console\/">/)
      assert.equal((await ask(service.url, { path: '/files/console' })).text, page.text)
    })
  })
})

it('a service without a built console says how it is built', async () => {
  const asked = { path: '', baseUrl: 'https://example.org', acceptEncoding: undefined, ifNoneMatch: undefined }
  await assert.rejects(consoleFile(null, asked), { code: 'not_implemented', message: /npm run build:console/ })
})
