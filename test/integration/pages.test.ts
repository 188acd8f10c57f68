import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

after(closeConnections)

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

/** A browser runs nothing of it, sends nothing from it, and takes the style for the one that the policy names. */
const isGuardedPage = (told: Told): void => {
  assert.equal(told.headers['content-type'], 'text/html; charset=utf-8')
  assert.equal(told.headers['x-content-type-options'], 'nosniff')
  assert.equal(told.headers['cache-control'], 'no-store')
  const policy = String(told.headers['content-security-policy']).split('; ')
  const [, style = ''] = /<style>(.*)<\/style>/s.exec(told.text) ?? []
  const hash = createHash('sha256').update(style).digest('base64')
  assert.deepEqual(policy.slice(0, 3), ["default-src 'none'", `style-src 'sha256-${hash}'`, "img-src 'self'"])
  for (const rule of ["form-action 'none'", "frame-ancestors 'none'", "base-uri 'none'"])
    assert.ok(policy.includes(rule), rule)
  assert.doesNotMatch(told.text, /<script|<form|\son[a-z]+=|style="/)
  assert.match(told.text, /<meta name="viewport" content="width=device-width/)
  assert.match(told.text, /prefers-color-scheme: dark/)
}

const linksIn = ({ text }: Told): string[] => [...text.matchAll(/href="([^"]*)"/g)].map(([, link = '']) => link)

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  before(async () => {
    service = await startService(engine, { roles: { gateway: 'api', worker: false } })
    owner = await createOwner(service)
  })
  after(() => service.stop())

  const get = (path: string, headers: Readonly<Record<string, string>> = {}, credential?: string): Promise<Told> =>
    service.ask({ path, headers, ...(credential === undefined ? {} : { credential }) })

  describe('the front page', () => {
    it('tells a browser what this is, that it runs and where to go, without a credential', async () => {
      const told = await get('/', browser)
      assert.equal(told.status, 200)
      isGuardedPage(told)
      for (const text of ['It runs', service.url, 'svc login', 'curl', '-T -', 'docker push', 'docs/'])
        assert.ok(told.text.includes(text), text)
      assert.deepEqual(linksIn(told), [
        '/favicon.ico',
        '/console/',
        '/health/status',
        '/api/v1/openapi.json',
        '/api/v1/operations',
      ])
      for (const link of linksIn(told)) assert.equal((await get(link, {}, owner.token)).status, 200, link)
    })

    it('tells others the same in plain text, and HEAD nothing but its headers', async () => {
      const told = await get('/')
      assert.equal(told.headers['content-type'], 'text/plain; charset=utf-8')
      assert.match(String(told.headers['vary']), /Accept/)
      for (const text of ['It runs', `${service.url}/health/status`, 'svc login']) assert.ok(told.text.includes(text))
      const head = await service.ask({ method: 'HEAD', path: '/', headers: browser })
      assert.deepEqual([head.status, head.headers['content-type'], head.text], [200, 'text/html; charset=utf-8', ''])
      assert.equal((await service.ask({ method: 'POST', path: '/', body: 'x' })).status, 405)
    })

    it('has an icon, which may be kept', async () => {
      const told = await get('/favicon.ico')
      assert.deepEqual([told.status, told.headers['content-type']], [200, 'image/x-icon'])
      assert.match(String(told.headers['cache-control']), /max-age=86400/)
      const [reserved, kind, images] = [
        told.bytes.readUInt16LE(0),
        told.bytes.readUInt16LE(2),
        told.bytes.readUInt16LE(4),
      ]
      assert.deepEqual([reserved, kind, images], [0, 1, 1])
      const png = told.bytes.subarray(told.bytes.readUInt32LE(18))
      assert.equal(png.byteLength, told.bytes.readUInt32LE(14))
      assert.equal(png.subarray(1, 4).toString(), 'PNG')
    })
  })

  describe('a request of a browser that fails', () => {
    const raw = '/api/v1/repositories/releases/raw'

    it('gets a page with status, sentence, request id and way out', async () => {
      for (const [path, credential, status, sentence] of [
        ['/nowhere', undefined, 404, /There is no/],
        [`${raw}/a`, undefined, 401, /sign in/i],
        [`${raw}/no/such/file`, owner.token, 404, /There is no/],
        ['/api/v1/repositories/releases/assets?prefx=a', owner.token, 400, /<code>\/query\/prefx<\/code>/],
      ] as const) {
        const told = await ask(service.url, { path, headers: browser, credential: credential ?? null })
        assert.equal(told.status, status, path)
        isGuardedPage(told)
        assert.ok(told.text.includes(`<h1>${status} `), told.text)
        assert.match(told.text, sentence)
        assert.ok(told.text.includes(`Request id: <code>${told.headers['x-request-id']}</code>`))
        assert.ok(linksIn(told).includes('/'))
        if (status === 401) assert.match(String(told.headers['www-authenticate']), /^Bearer error=/)
      }
    })

    it('is shown the markup of what it asked for', async () => {
      const path = `${raw}/${encodeURIComponent('<script>alert(1)</script>"&')}/`
      const told = await ask(service.url, { path, headers: browser, credential: owner.token })
      assert.equal(told.status, 404)
      const nowhere = await ask(service.url, { path: '/<script>alert(1)</script>', headers: browser })
      for (const page of [told, nowhere]) assert.doesNotMatch(page.text, /<script/)
      isGuardedPage(nowhere)
    })

    it('is a problem for programs, and for whoever sees no body', async () => {
      for (const accept of [undefined, '*/*', 'application/json', 'application/json, text/html;q=0.5']) {
        const told = await get('/nowhere', accept === undefined ? {} : { accept })
        assert.equal(told.headers['content-type'], 'application/problem+json; charset=utf-8')
      }
      for (const method of ['HEAD', 'DELETE', 'POST']) {
        const told = await service.ask({ method, path: '/nowhere', headers: browser })
        assert.equal(told.headers['content-type'], 'application/problem+json; charset=utf-8', method)
      }
    })
  })

  describe('below a path', () => {
    let below: TestService
    before(async () => {
      below = await startService(engine, {
        roles: { gateway: 'api', worker: false },
        settings: { SVC_BASE_URL: 'https://example.org/files' },
      })
    })
    after(() => below.stop())

    it('pages lead to addresses below it, and say the address that clients use', async () => {
      for (const path of ['/files', '/files/', '/']) {
        const told = await ask(below.url, { path, headers: browser })
        isGuardedPage(told)
        assert.ok(
          linksIn(told).every((link) => link.startsWith('/files/')),
          linksIn(told).join(),
        )
        assert.ok(told.text.includes('SVC_URL=&#39;https://example.org/files&#39;'))
      }
      const failed = await ask(below.url, { path: '/files/nowhere', headers: browser })
      assert.deepEqual(linksIn(failed), ['/files/favicon.ico', '/files/'])
      assert.equal((await ask(below.url, { path: '/files/favicon.ico' })).status, 200)
    })
  })
})
