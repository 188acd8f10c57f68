import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { passSeconds } from '../../src/kernel/limits/identity.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { openConnection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { addFileKeys } from '../harness/file-keys.ts'
import { imageSite } from '../harness/images.ts'
import { createPerson, createRepository, grant, signIn } from '../harness/people.ts'
import { everyRow } from '../harness/rows.ts'
import { type ServiceOptions, startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount, issueKey, revocation } from '../harness/service-keys.ts'

after(closeConnections)

const basic = (secret: string, name = 'anybody') => ({ authorization: `Basic ${btoa(`${name}:${secret}`)}` })
const tokenOf = (secret: string, query = '?service=here'): Ask => ({
  path: `/v2/token${query}`,
  credential: null,
  headers: basic(secret),
})
const pull: Ask = { path: '/v2/releases/tool/manifests/1' }
const push: Ask = { method: 'POST', path: '/v2/releases/tool/blobs/uploads/' }

forEachEngine((engine) => {
  const site = imageSite(engine)
  const { expect } = site

  const passFor = async (secret: string, query?: string): Promise<string> =>
    (await expect(tokenOf(secret, query), 200)).json.token
  const refused = async (request: Ask, where: Pick<TestService, 'ask'> = site.service): Promise<Told> => {
    const told = await where.ask(request)
    assert.equal(told.status, 401, told.text)
    assert.equal(told.json.errors[0].code, 'UNAUTHORIZED')
    return told
  }
  const challengeOf = (told: Told): string => String(told.headers['www-authenticate'])
  const beside = async (options: ServiceOptions, work: (other: TestService) => Promise<void>): Promise<void> => {
    const other = await startService(engine, { ...options, on: site.service })
    try {
      await work(other)
    } finally {
      await other.stop()
    }
  }
  const signingKeys = async (): Promise<string[]> =>
    (await everyRow(site.service)).split('\n').filter((row) => row.startsWith('link_keys '))
  const newToken = async (
    scope: 'read' | 'read-write',
    who = site.owner.token,
  ): Promise<{ id: string; token: string }> =>
    (await expect({ path: '/api/v1/auth/tokens', credential: who, json: { name: 'ci', scope } }, 201)).json
  const newKey = async (...actions: Parameters<typeof binding>[1][]) => {
    const bindings = [binding('releases', ...actions)]
    const account = await createServiceAccount(site.service, bindings)
    return { account: account.id, ...(await activeKey(site.service, account.id, { bindings })) }
  }

  describe('whoever asks a registry without a credential', () => {
    it('is told where to get a token, by one scheme on one line', async () => {
      for (const request of [{ path: '/v2/' }, { path: '/v2' }, pull, push, { path: '/v2/token' }]) {
        const told = await refused({ ...request, credential: null })
        assert.equal(
          challengeOf(told),
          `Bearer realm="${site.service.url}/v2/token",service="${new URL(site.service.url).host}"`,
          request.path,
        )
      }
    })

    it('is told the address under which clients know us', async () => {
      await beside({ settings: { SVC_BASE_URL: 'https://images.example.org:8443' } }, async (other) => {
        const told = await refused({ path: '/v2/' }, other)
        const expected = 'Bearer realm="https://images.example.org:8443/v2/token",service="images.example.org:8443"'
        assert.equal(challengeOf(told), expected)
      })
    })

    it('is told so where what it sent is no credential, also the password of an account', async () => {
      for (const secret of ['w'.repeat(40), 'short', site.owner.password.replaceAll(' ', '-').padEnd(32, 'x')])
        for (const path of ['/v2/', '/v2/token', pull.path]) {
          const told = await refused({ path, credential: null, headers: basic(secret, site.owner.name) })
          assert.match(challengeOf(told), /^Bearer realm="[^"]+\/v2\/token",service="[^"]+",error="invalid_token"$/)
          assert.match(told.json.errors[0].message, /a personal token or a service key as the password\.$/)
        }
    })

    it('hears of a token endpoint that takes no form, and not otherwise when it was lost', async () => {
      const told = await expect({ method: 'POST', path: '/v2/token', body: 'grant_type=password' }, 405, 'UNSUPPORTED')
      assert.match(String(told.headers.allow), /GET/)
    })
  })

  describe('a token of a registry', () => {
    it('is as good as the credential, of whatever kind, and so is the credential by itself', async () => {
      await site.pushImage('releases/tool', '1')
      const key = await newKey('content.read', 'artifact.read', 'upload.create', 'upload.write', 'upload.complete')
      const credentials = {
        session: site.owner.token,
        'personal token': (await newToken('read-write')).token,
        'service key': key.secret,
        'key of the file': site.service.recoveryKey,
      }
      for (const [what, credential] of Object.entries(credentials)) {
        const pass = await passFor(credential)
        assert.notEqual(pass, credential, what)
        for (const request of [{ path: '/v2/' }, pull]) {
          await expect({ ...request, credential: pass }, 200)
          await expect({ ...request, credential: null, headers: basic(pass) }, 200)
          for (const name of ['anybody', '', site.reader.name])
            await expect({ ...request, credential: null, headers: basic(credential, name) }, 200)
          await expect({ ...request, credential }, 200)
        }
        await expect({ ...push, credential: pass }, 202)
      }
    })

    it('is made for credentials of every length, whatever visible characters they have', async () => {
      await site.pushImage('releases/tool', '1')
      const all = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join('')
      const secrets = [`a.b:c:${all}`.padEnd(512, '.~:'), 'x'.padStart(32, '.')]
      const wishes = secrets.map((secret, number) => ({
        ...{ id: `long-${number}`, secret },
        repositories: [{ repository: 'releases', permissions: ['read'] as const }],
      }))
      await addFileKeys(site.service, wishes)
      for (const secret of secrets) {
        await expect({ ...pull, credential: null, headers: basic(secret) }, 200)
        await expect({ ...pull, credential: secret }, 200)
        await expect({ ...pull, credential: await passFor(secret) }, 200)
      }
      await refused({ ...pull, credential: null, headers: basic(`${secrets[0]}x`) })
    })

    it('has the form that clients read', async () => {
      const { json, headers } = await expect(tokenOf(site.owner.token), 200)
      assert.deepEqual(Object.keys(json).sort(), ['access_token', 'expires_in', 'issued_at', 'token'])
      assert.equal(json.access_token, json.token)
      assert.equal(json.expires_in, passSeconds)
      assert.ok(Math.abs(Date.parse(json.issued_at) - site.service.clock.now()) < 60_000)
      assert.match(String(headers['cache-control']), /no-store/)
    })

    it('is the same whatever is said that it is for', async () => {
      await site.pushImage('releases/tool', '1')
      for (const query of [
        '',
        '?scope=repository:releases/tool:pull',
        '?scope=repository:releases/tool:pull,push&scope=repository:second/tool:pull',
        '?scope=repository:a:pull%20repository:b:push&account=x&client_id=docker&offline_token=true',
        '?scope=repository:nothing/there:*',
        '?scope=&scope=%00&service=&unknown=1&unknown=2',
      ]) {
        const pass = await passFor(site.owner.token, query)
        await expect({ ...pull, credential: pass }, 200)
        await expect({ ...push, credential: pass }, 202)
        await expect({ path: '/v2/nothing/there/manifests/1', credential: pass }, 404, 'NAME_UNKNOWN')
      }
    })

    it('holds what its credential holds, and is never told 401 for what that may not', async () => {
      await site.pushImage('releases/tool', '1')
      const { token } = await newToken('read')
      const reading = await passFor(token)
      await expect({ ...pull, credential: reading }, 200)
      await expect({ ...push, credential: reading }, 403, 'DENIED')
      const guest = await createPerson(site.service, 'guest')
      const pass = await passFor(guest.token)
      await expect({ ...pull, credential: pass }, 404, 'NAME_UNKNOWN')
      const group = await grant(site.service, guest, 'releases', 'read')
      await expect({ ...pull, credential: pass }, 200)
      await expect({ ...push, credential: pass }, 403, 'DENIED')
      const path = `/api/v1/access-groups/${group}/members/${guest.id}`
      await expect({ method: 'DELETE', path, credential: site.service.recoveryKey }, 204)
      await expect({ ...pull, credential: pass }, 404, 'NAME_UNKNOWN')
    })

    it('ends with its credential at the next request', async () => {
      await site.pushImage('releases/tool', '1')
      const { id, token } = await newToken('read-write')
      const session = await signIn(site.service, site.owner.name)
      const key = await newKey('content.read', 'artifact.read')
      const ends: readonly (readonly [string, Ask])[] = [
        [token, { method: 'DELETE', path: `/api/v1/auth/tokens/${id}` }],
        [session, { method: 'POST', path: '/api/v1/auth/logout', credential: session }],
        [key.secret, revocation(key.id, site.service.recoveryKey)],
      ]
      for (const [credential, end] of ends) {
        const pass = await passFor(credential)
        await expect({ ...pull, credential: pass }, 200)
        const ended = await site.ask(end)
        assert.ok(ended.status < 300, ended.text)
        assert.match(challengeOf(await refused({ ...pull, credential: pass })), /,error="invalid_token"$/)
        await refused(tokenOf(credential))
      }
    })

    it('does not open the repository that comes after the one it was good for', async () => {
      await createRepository(site.service, 'again')
      const bindings = [binding('again', 'artifact.list')]
      const account = await createServiceAccount(site.service, bindings)
      const pass = await passFor((await activeKey(site.service, account.id, { bindings })).secret)
      const list = { path: '/v2/again/tool/tags/list', credential: pass }
      await expect(list, 200)
      const path = '/api/v1/repositories/again'
      await expect({ method: 'DELETE', path, credential: site.service.recoveryKey }, 204)
      await expect(list, 404, 'NAME_UNKNOWN')
      await createRepository(site.service, 'again')
      await expect(list, 404, 'NAME_UNKNOWN')
    })

    it('is made for no key that was not activated', async () => {
      const bindings = [binding('releases', 'content.read')]
      const account = await createServiceAccount(site.service, bindings)
      const { secret } = await issueKey(site.service, account.id, { bindings })
      assert.match((await refused(tokenOf(secret))).json.errors[0].message, /not activated/)
    })

    it('opens nothing but the registry, and makes no other', async () => {
      const pass = await passFor(site.service.recoveryKey)
      for (const path of ['/api/v1/auth/me', '/api/v1/repositories', '/api/v1/users'])
        await expectAnswer(site.service, { path, credential: pass }, 401, 'credential_invalid')
      await expect(tokenOf(pass), 403, 'DENIED')
      await expect({ path: '/v2/token', credential: pass }, 403, 'DENIED')
    })

    it('is refused when it was made up', async () => {
      const pass = await passFor(site.owner.token)
      for (const made of [`${pass}A`, pass.slice(0, -1), `${pass.slice(0, -2)}AA`, pass.replace('dpp_', 'dtl_')])
        await refused({ path: '/v2/', credential: made })
    })

    it('is good in another process, and after a restart', async () => {
      await site.pushImage('releases/tool', '1')
      const pass = await passFor(site.owner.token)
      await beside({}, async (other) => {
        assert.equal((await other.ask({ ...pull, credential: pass })).status, 200)
        const { token } = (await other.ask(tokenOf(site.owner.token))).json
        await expect({ ...pull, credential: token }, 200)
      })
      await site.service.restart()
      await expect({ ...pull, credential: pass }, 200)
    })

    it('is the credential itself where nothing may be written: at a read gateway', async () => {
      await site.pushImage('releases/tool', '1')
      const pass = await passFor(site.owner.token)
      const { token } = await newToken('read')
      const before = await signingKeys()
      await beside({ roles: { gateway: 'reader', worker: false } }, async (reader) => {
        assert.equal((await reader.ask({ ...pull, credential: pass })).status, 200)
        const told = await reader.ask(tokenOf(token))
        assert.equal(told.json.token, token)
        assert.equal((await reader.ask({ ...pull, credential: told.json.token })).status, 200)
        assert.equal((await reader.ask({ ...push, credential: pass })).status, 405)
      })
      assert.deepEqual(await signingKeys(), before)
    })
  })

  describe('the end of a token', () => {
    it('comes after some minutes, and stops no push that is under way', async () => {
      const pass = await passFor(site.owner.token)
      const { text, type } = await site.newImage('releases/slow')
      const connection = await openConnection(site.service.url)
      const head = [
        'PUT /v2/releases/slow/manifests/1 HTTP/1.1',
        'Host: localhost',
        `Authorization: Bearer ${pass}`,
        `Content-Type: ${type}`,
        `Content-Length: ${text.length}`,
        'Expect: 100-continue',
      ]
      connection.send(`${head.join('\r\n')}\r\n\r\n`)
      await connection.until(/^HTTP\/1\.1 100 /)
      connection.send(text.slice(0, 100))
      site.service.clock.advance(passSeconds * 1000)
      connection.send(text.slice(100))
      await connection.until(/\r\nHTTP\/1\.1 201 /)
      connection.socket.destroy()
      assert.match(challengeOf(await refused({ path: '/v2/', credential: pass })), /,error="invalid_token"$/)
    })
  })

  describe('tries of credentials at a registry', () => {
    it('are bounded, and clients are told for how long to wait', async () => {
      await beside({ settings: { SVC_REQUESTS_PER_SECOND: '1' } }, async (other) => {
        const tries = Array.from({ length: 60 }, (_, n) => other.ask(tokenOf(String(n).padStart(40, 'x'))))
        const statuses = new Set((await Promise.all(tries)).map(({ status }) => status))
        assert.deepEqual([...statuses].sort(), [401, 429])
        const told = await other.ask(tokenOf('y'.repeat(40)))
        assert.equal(told.json.errors[0].code, 'TOOMANYREQUESTS')
        assert.match(String(told.headers['retry-after']), /^\d+$/)
        // Whoever has a credential is not held up by them.
        assert.equal((await other.ask(tokenOf(site.owner.token))).status, 200)
      })
    })
  })
})
