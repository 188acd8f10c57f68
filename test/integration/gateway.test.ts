import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { isOnReaders } from '../../src/contract/operation.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { reasonOf } from '../harness/expect.ts'
import { createOwner, createPerson, type Person } from '../harness/people.ts'
import { everyRow, securityAudit } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const raw = '/api/v1/repositories/releases/raw'
const listed = 'https://pages.example.org'

forEachEngine((engine) => {
  let service: TestService
  let owner: Person

  before(async () => {
    service = await startService(engine, {
      settings: { SVC_CORS_ORIGINS: `${listed}, http://localhost:3000`, SVC_MAX_OBJECT_BYTES: '100000000' },
    })
    owner = await createOwner(service)
    const put = await service.ask({ method: 'PUT', path: `${raw}/file`, credential: owner.token, body: 'the bytes' })
    assert.equal(put.status, 201)
  })
  after(() => service.stop())

  const me = (headers: Record<string, string>, on = service): Promise<Told> =>
    on.ask({ path: '/api/v1/auth/me', credential: owner.token, headers })

  describe('a read gateway', () => {
    let reader: TestService
    before(async () => {
      reader = await startService(engine, { on: service, roles: { gateway: 'reader', worker: false } })
    })
    after(() => reader.stop())

    it('serves GET and HEAD with the sessions and files of the writer', async () => {
      const got = await reader.ask({ path: `${raw}/file`, credential: owner.token })
      assert.equal(got.text, 'the bytes')
      const head = await reader.ask({ method: 'HEAD', path: `${raw}/file`, credential: owner.token })
      assert.equal(head.headers['content-length'], '9')
      assert.equal((await reader.ask({ path: `${raw}/file` })).status, 401)
    })

    it('answers 405 to everything that changes, whoever asks', async () => {
      const changing = catalogue().filter((operation) => !isOnReaders(operation))
      assert.ok(changing.length > 10)
      const { length } = await securityAudit(service)
      for (const operation of changing)
        for (const credential of [null, owner.token, service.recoveryKey]) {
          const path = operation.path
            .replace('{repository}', 'releases')
            .replaceAll(/\{[a-zA-Z]+[*+]?\}/g, '00000000-0000-7000-8000-000000000000')
          const told = await reader.ask({ method: operation.method, path, credential, json: {} })
          assert.equal(told.status, 405, `${operation.id}: ${told.text}`)
          assert.equal(reasonOf(told), 'method_not_allowed')
          assert.ok(!String(told.headers.allow).includes(operation.method))
        }
      assert.equal((await securityAudit(service)).length, length)
    })
  })

  describe('pages of other origins', () => {
    it('are refused, whatever credential they have, unless their origin is listed', async () => {
      const others = [
        'https://evil.example.org',
        'null',
        `${listed}.evil.example`,
        `${listed}:8443`,
        'http://pages.example.org',
        `${listed}/`,
        listed.toUpperCase(),
        '*',
        '',
      ]
      for (const origin of others) {
        const told = await me({ origin })
        assert.deepEqual([told.status, told.json.code], [403, 'origin_not_allowed'], origin)
        assert.equal(told.headers['access-control-allow-origin'], undefined)
      }
      for (const path of ['/health/live', '/api/v1/auth/options', '/nowhere'])
        assert.equal((await service.ask({ path, headers: { origin: 'null' } })).status, 403, path)
      const json = { name: owner.name, password: owner.password }
      const headers = { origin: 'https://evil.example.org' }
      assert.equal((await service.ask({ path: '/api/v1/auth/login', json, headers })).status, 403)
    })

    it('are served when listed, and may read what they need of the answer', async () => {
      for (const origin of [listed, 'http://localhost:3000']) {
        const told = await me({ origin })
        assert.equal(told.status, 200)
        assert.equal(told.headers['access-control-allow-origin'], origin)
        assert.match(String(told.headers['access-control-expose-headers']), /X-Request-Id/)
        assert.equal(told.headers['access-control-allow-credentials'], undefined)
        assert.match(String(told.headers.vary), /Origin/)
      }
      // Refusals too, and files.
      const refused = await service.ask({ path: '/api/v1/auth/me', headers: { origin: listed } })
      assert.deepEqual([refused.status, refused.headers['access-control-allow-origin']], [401, listed])
      const missing = await service.ask({ path: '/nowhere', headers: { origin: listed } })
      assert.deepEqual([missing.status, missing.headers['access-control-allow-origin']], [404, listed])
      const file = await service.ask({ path: `${raw}/file`, credential: owner.token, headers: { origin: listed } })
      assert.deepEqual([file.text, file.headers['access-control-allow-origin']], ['the bytes', listed])
    })

    it('of our own origin are no other', async () => {
      assert.equal((await me({ origin: service.url })).status, 200)
      assert.equal((await me({ origin: service.url.replace('http', 'https') })).status, 403)
    })

    it('are told in advance what they may ask, when listed', async () => {
      const preflight = (origin: string, path: string): Promise<Told> =>
        service.ask({
          method: 'OPTIONS',
          path,
          headers: {
            origin,
            'access-control-request-method': 'PUT',
            'access-control-request-headers': 'authorization, x-checksum-sha256',
          },
        })
      for (const path of [`${raw}/file`, '/api/v1/auth/me']) {
        const told = await preflight(listed, path)
        assert.equal(told.status, 204)
        assert.equal(told.text, '')
        assert.equal(told.headers['access-control-allow-origin'], listed)
        assert.match(String(told.headers['access-control-allow-methods']), /\bPUT\b/)
        for (const name of ['authorization', 'content-type', 'range', 'idempotency-key', 'x-checksum-sha256'])
          assert.match(String(told.headers['access-control-allow-headers']).toLowerCase(), new RegExp(`\\b${name}\\b`))
        for (const origin of ['https://evil.example.org', 'null']) {
          const refused = await preflight(origin, path)
          assert.equal(refused.status, 403)
          assert.equal(refused.headers['access-control-allow-methods'], undefined)
        }
      }
      // Without the question it is a method like any other.
      const plain = await service.ask({ method: 'OPTIONS', path: '/api/v1/auth/me', headers: { origin: listed } })
      assert.equal(plain.status, 405)
    })
  })

  describe('forwarded addresses', () => {
    const auditedAddress = async (on: TestService, headers: Record<string, string>): Promise<string | undefined> => {
      const json = { id: `r${randomBytes(8).toString('hex')}` }
      const told = await on.ask({ path: '/api/v1/repositories', credential: service.recoveryKey, headers, json })
      assert.equal(told.status, 201)
      return (await securityAudit(service)).at(-1)?.client_address
    }

    it('are not believed from just anybody', async () => {
      for (const headers of [
        { 'x-forwarded-for': '203.0.113.9' },
        { forwarded: 'for=203.0.113.9' },
        { 'x-real-ip': '203.0.113.9' },
      ])
        assert.equal(await auditedAddress(service, headers as Record<string, string>), '127.0.0.1')
      const warnings = service.log.filter((line) => line.includes('SVC_TRUSTED_PROXIES'))
      assert.equal(warnings.length, 1, 'a warning that says what to set, and no more')
      const origin = 'https://files.example.org'
      const headers = { origin, 'x-forwarded-proto': 'https', 'x-forwarded-host': 'files.example.org' }
      assert.equal((await me(headers)).status, 403)
    })

    it('are believed from trusted proxies, as far as they reach', async () => {
      const proxied = await startService(engine, {
        on: service,
        roles: { gateway: 'api', worker: false },
        settings: { SVC_TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8' },
      })
      try {
        for (const [chain, expected] of [
          ['203.0.113.9', '203.0.113.9'],
          ['198.51.100.1, 203.0.113.9', '203.0.113.9'],
          ['203.0.113.9, 10.1.2.3', '203.0.113.9'],
          ['203.0.113.9, nonsense', '127.0.0.1'],
          ['10.1.2.3', '127.0.0.1'],
          ['', '127.0.0.1'],
          ['2001:db8::1', '2001:db8::1'],
          ['::ffff:203.0.113.9', '203.0.113.9'],
        ] as const)
          assert.equal(await auditedAddress(proxied, { 'x-forwarded-for': chain }), expected, chain)
        const origin = 'https://files.example.org'
        const headers = { origin, 'x-forwarded-proto': 'https', 'x-forwarded-host': 'files.example.org' }
        assert.equal((await me(headers, proxied)).status, 200)
      } finally {
        await proxied.stop()
      }
    })
  })

  describe('every answer', () => {
    it('has a request id of its own, which the client cannot choose', async () => {
      const told = await Promise.all([
        ...Array.from({ length: 50 }, () => service.ask({ path: '/health/live', headers: { 'x-request-id': 'mine' } })),
        ...Array.from({ length: 50 }, () => service.ask({ path: '/nowhere' })),
        ...Array.from({ length: 50 }, () => service.ask({ path: `${raw}/file`, credential: owner.token })),
      ])
      const ids = told.map(({ headers }) => String(headers['x-request-id']))
      assert.equal(new Set(ids).size, 150)
      assert.ok(!ids.includes('mine'))
      await service.restart()
      const { headers } = await service.ask({ path: '/health/live' })
      assert.ok(!ids.includes(String(headers['x-request-id'])))
    })
  })

  it('no secret of anybody is in the log, in the database or in an answer that refuses', async () => {
    const person = await createPerson(service, 'secretive')
    const guess = 'a wrong password that is a secret too'
    const unknown = randomBytes(32).toString('hex')
    const refusals: Told[] = [
      await service.ask({ path: '/api/v1/auth/login', json: { name: person.name, password: guess } }),
      await service.ask({ path: '/api/v1/auth/login', json: { name: person.name, password: guess, more: guess } }),
      await service.ask({
        path: '/api/v1/users',
        credential: service.recoveryKey,
        json: { name: 'x', password: guess },
      }),
      await service.ask({
        path: '/api/v1/users',
        credential: service.recoveryKey,
        json: { name: 'abc', password: 'sh0rt-secret'.slice(0, 11) },
      }),
      await service.ask({ path: '/api/v1/auth/me', credential: unknown }),
      await service.ask({ path: '/api/v1/users', credential: person.token }),
      await service.ask({ path: `/api/v1/auth/me?token=${person.token}`, credential: person.token }),
      await service.ask({
        path: '/api/v1/auth/login',
        headers: { 'content-type': 'application/json' },
        body: `{"password": "${guess}"`,
      }),
      await service.ask({ path: '/api/v1/auth/me', headers: { authorization: `Basic ${btoa(`x:${guess}`)}` } }),
    ]
    for (const { status, text } of refusals) assert.ok(status >= 400, text)
    await service.ask({ method: 'POST', path: '/api/v1/auth/logout', credential: person.token })
    await until('all of it is logged', () => service.log.some((line) => line.includes('"operation":"logout"')))
    const places = {
      'the log': service.log.join('\n'),
      'the database': await everyRow(service),
      'a refusal': refusals.map(({ text, headers }) => text + JSON.stringify(headers)).join('\n'),
    }
    const secrets = [
      person.password,
      person.token,
      owner.token,
      guess,
      unknown,
      service.recoveryKey,
      service.healthKey,
      'sh0rt-secre',
      btoa(`x:${guess}`),
    ]
    for (const [where, text] of Object.entries(places)) {
      assert.ok(text.length > 100)
      for (const secret of secrets) assert.ok(!text.includes(secret), `${where} holds ${secret}`)
    }
  })
})
