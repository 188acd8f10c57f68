import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { npmSignInSeconds } from '../../src/kernel/limits/npm-accounts.ts'
import { day, minute } from '../../src/kernel/units.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { type BegunSignIn, beginSignIn, confirmation, couchSignIn } from '../harness/npm-sign-ins.ts'
import { createOwner, createPerson, createRepository, grant, type Person, password, signIn } from '../harness/people.ts'
import { everyRow } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const registry = '/npm/releases/-'

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  let ann: Person
  before(async () => {
    service = await startService(engine)
    owner = await createOwner(service)
    ann = await createPerson(service, 'ann')
    await grant(service, ann, 'releases', 'read')
  })
  after(() => service.stop())

  const expect = (request: Ask, status: number): Promise<Told> => expectAnswer(service, request, status)
  const couch = couchSignIn
  const whoami = async (credential: string): Promise<string> =>
    (await expect({ path: `${registry}/whoami`, credential }, 200)).json.username
  const ended = (credential: string) => expect({ path: `${registry}/whoami`, credential }, 401)
  const signOut = (credential: string, token = credential): Ask => ({
    method: 'DELETE',
    path: `${registry}/user/token/${encodeURIComponent(token)}`,
    credential,
  })
  const errorOf = (told: Told): string => {
    assert.equal(typeof told.json.error, 'string', told.text)
    return told.json.error
  }
  const tokens = (credential: string) =>
    expect({ path: '/api/v1/auth/tokens', credential }, 200).then(({ json }) => json.items)
  /** What the log says of the latest request of an operation: the line comes late. */
  const logged = (operation: string): Promise<string> =>
    until('the request stands in the log', () =>
      service.log.findLast((line) => line.includes(`"operation":"${operation}"`)),
    )

  describe('signing in with name and password', () => {
    it('gives a personal token, which is the person that signed in', async () => {
      const { token, id, ok } = (await expect(couch('ann', password), 201)).json
      assert.equal(ok, true)
      assert.equal(id, 'org.couchdb.user:ann')
      assert.match(token, /^pat_/)
      assert.equal(await whoami(token), 'ann')
      const [newest] = await tokens(ann.token)
      assert.equal(newest.name, 'npm login from 127.0.0.1')
      assert.equal(newest.scope, 'read-write')
      assert.ok(token.startsWith(newest.prefix))
      assert.equal(Date.parse(newest.expiresAt) - Date.parse(newest.createdAt), 90 * day)
    })

    it('leaves no session behind', async () => {
      const bob = await createPerson(service, 'bob')
      const sessions = async (): Promise<number> =>
        (await everyRow(service)).split('\n').filter((row) => row.startsWith('sessions ') && row.includes(bob.id))
          .length
      const before = await sessions()
      await expect(couch('bob', password), 201)
      assert.equal(await sessions(), before)
    })

    it('says in words what is wrong, by no scheme that npm knows, and pauses who goes on trying', async () => {
      const told = await expect(couch('owner', 'wrong'), 401)
      assert.match(errorOf(told), /name or the password is wrong/)
      assert.doesNotMatch(String(told.headers['www-authenticate']), /bearer|basic|otp|ipaddress/i)
      assert.deepEqual(
        { ...(await expect(couch('nobody-at-all', 'wrong'), 401)).json, requestId: '' },
        { ...told.json, requestId: '' },
      )
      await createPerson(service, 'tried')
      for (let tries = 0; tries < 20; tries++) {
        const { status, headers } = await service.ask(couch('tried', 'wrong'))
        if (status === 401) continue
        assert.equal(status, 429)
        assert.ok(Number(headers['retry-after']) > 0)
        return
      }
      assert.fail('twenty wrong tries and no pause')
    })

    it('hands a credential back that is typed as the password, if it is good', async () => {
      const key = await activeKey(
        service,
        (await createServiceAccount(service, [binding('releases', 'content.read')])).id,
        { bindings: [binding('releases', 'content.read')] },
      )
      for (const secret of [key.secret, ann.token, service.recoveryKey])
        assert.equal((await expect(couch('whoever', secret), 201)).json.token, secret)
      const refused = await expect(couch('ann', `pat_${'a'.repeat(43)}`), 401)
      assert.match(errorOf(refused), /does not exist or was revoked/)
    })

    it('tells nothing of the repository, whether there is one or not', async () => {
      await createRepository(service, 'hidden')
      for (const repository of ['hidden', 'nothing'])
        assert.match((await expect(couch('ann', password, repository), 201)).json.token, /^pat_/)
    })
  })

  describe('signing out', () => {
    it('ends the token that was got by signing in, and a session', async () => {
      const { token } = (await expect(couch('ann', password), 201)).json
      assert.deepEqual((await expect(signOut(token), 200)).json, { ok: true })
      await ended(token)
      const session = await signIn(service, 'ann')
      await expect(signOut(session), 200)
      await ended(session)
    })

    it('ends no other credential: those are shared', async () => {
      const json = { name: 'ci', scope: 'read' }
      const { token } = (await expect({ path: '/api/v1/auth/tokens', credential: ann.token, json }, 201)).json
      await expect(signOut(token), 200)
      assert.equal(await whoami(token), 'ann')
      const got = (await expect(couch('owner', password), 201)).json.token
      await expect(signOut(token, got), 200)
      assert.equal(await whoami(got), 'owner')
      await expect(signOut(service.recoveryKey), 200)
      await expect(signOut(service.recoveryKey, 'what-nobody-has'), 200)
      await whoami(service.recoveryKey)
    })

    it('writes no credential into the log, of whatever form', async () => {
      await expect(signOut(service.recoveryKey), 200)
      const line = await logged('endNpmToken')
      assert.equal(JSON.parse(line).path, `${registry}/user/token/***`)
      await service.ask({ ...signOut('x'.repeat(40)), headers: { origin: 'https://elsewhere.example' } })
      await expect({ path: `${registry}/ping` }, 200)
      await logged('pingNpmRegistry')
      assert.ok(!service.log.join('\n').includes('x'.repeat(40)))
      assert.ok(!service.log.join('\n').includes(service.recoveryKey))
    })
  })

  describe('signing in by a browser', () => {
    const begin = (): Promise<BegunSignIn> => beginSignIn(service)
    const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
    const confirm = (page: string, name: string, secret: string): Ask => confirmation(service, page, name, secret)

    it('waits for a person, who signs in on a page, and gives one token, once', async () => {
      const { page, done } = await begin()
      const waits = await expect({ path: done }, 202)
      assert.ok(Number(waits.headers['retry-after']) > 0)
      assert.deepEqual(waits.json, {})
      const shown = await expect({ path: page, headers: browser }, 200)
      assert.match(String(shown.headers['content-type']), /^text\/html/)
      assert.match(shown.text, /A program at <strong>127\.0\.0\.1<\/strong> waits/)
      assert.match(String(shown.headers['content-security-policy']), /default-src 'none'.*form-action 'self'/)
      assert.match(String(shown.headers['referrer-policy']), /same-origin/)
      assert.match((await expect(confirm(page, 'ann', password), 200)).text, /Signed in/)
      const { token } = (await expect({ path: done }, 200)).json
      assert.equal(await whoami(token), 'ann')
      await expect({ path: done }, 202)
      await expect(signOut(token), 200)
      await ended(token)
    })

    it('asks again on the page where the password is wrong, and counts it', async () => {
      const { page, done } = await begin()
      const wrong = await expect(confirm(page, 'ann', 'wrong <b>'), 401)
      assert.match(wrong.text, /role="alert"><strong>The name or the password is wrong/)
      assert.match(wrong.text, /<form method="post">/)
      assert.match(await logged('confirmNpmSignIn'), /"code":"invalid_credentials"/)
      await expect({ path: done }, 202)
      await expect(confirm(page, 'ann', password), 200)
      await expect({ path: done }, 200)
    })

    it('is confirmed by one person: whoever comes second changes nothing', async () => {
      const { page, done } = await begin()
      await expect(confirm(page, 'ann', password), 200)
      await expect(confirm(page, 'owner', password), 200)
      assert.equal(await whoami((await expect({ path: done }, 200)).json.token), 'ann')
    })

    it('gives nothing for a person who got another password, or was disabled, before it was collected', async () => {
      const eve = await createPerson(service, 'eve')
      const changes = [{ password: `${password} 2` }, { enabled: false }]
      for (const json of changes) {
        const { page, done } = await begin()
        await expect(confirm(page, 'eve', password), 200)
        const path = `/api/v1/users/${eve.id}`
        await expect({ method: 'PATCH', path, credential: service.recoveryKey, json }, 200)
        await expect({ path: done }, 202)
        await expect({ method: 'PATCH', path, credential: service.recoveryKey, json: { password } }, 200)
      }
    })

    it('is for whoever has the secret, within its time, and for what was begun here', async () => {
      const { page, done } = await begin()
      const other = await begin()
      await expect(confirm(page, 'ann', password), 200)
      const secretOf = (path: string): string => new URL(path, service.url).searchParams.get('secret') ?? ''
      assert.match(
        errorOf(await expect({ path: done.replace(secretOf(done), secretOf(other.done)) }, 404)),
        /no such sign-in/,
      )
      const moved = await expect({ path: page.replace('127.0.0.1', '192.0.2.1'), headers: browser }, 404)
      assert.match(moved.text, /<h1>This sign-in has ended/)
      await expect(confirm(page.replace('/v1/login/', '/v1/login/A'), 'ann', password), 404)
      service.clock.advance(npmSignInSeconds * 1000)
      assert.match(errorOf(await expect({ path: done }, 404)), /Type npm login again/)
      await expect({ path: page, headers: browser }, 404)
      await expect(confirm(page, 'ann', password), 404)
    })

    it('is not for forms of other pages, nor for read gateways', async () => {
      const { page, done } = await begin()
      const foreign = confirm(page, 'ann', password)
      await expect({ ...foreign, headers: { ...foreign.headers, origin: 'https://elsewhere.example' } }, 403)
      const reader = await startService(engine, { roles: { gateway: 'reader', worker: false }, on: service })
      try {
        assert.equal((await reader.ask({ path: done })).status, 405)
        assert.equal(
          (await reader.ask({ ...foreign, headers: { ...foreign.headers, origin: reader.url } })).status,
          405,
        )
      } finally {
        await reader.stop()
      }
    })
  })

  describe('whose credential it is', () => {
    it('says the name of a person, of a service account and of a key, by Bearer and by Basic', async () => {
      const account = await createServiceAccount(service, [binding('releases', 'content.read')])
      const key = await activeKey(service, account.id, { bindings: [binding('releases', 'content.read')] })
      assert.equal(await whoami(key.secret), account.name)
      assert.equal(await whoami(service.recoveryKey), 'bootstrap-owner')
      const authorization = `Basic ${btoa(`anybody:${ann.token}`)}`
      const told = await expect({ path: `${registry}/whoami`, headers: { authorization } }, 200)
      assert.equal(told.json.username, 'ann')
      const none = await expect({ path: `${registry}/whoami` }, 401)
      assert.match(String(none.headers['www-authenticate']), /^Bearer /)
      assert.match(errorOf(none), /npm login/)
    })

    it('answers a ping to everybody', async () => {
      for (const repository of ['releases', 'nothing'])
        assert.deepEqual((await expect({ path: `/npm/${repository}/-/ping` }, 200)).json, {})
    })

    it('shows a profile', async () => {
      const { json } = await expect({ path: `${registry}/npm/v1/user`, credential: ann.token }, 200)
      assert.equal(json.name, 'ann')
      assert.ok(Date.parse(json.created) <= service.clock.now())
      assert.deepEqual([json.email, json.email_verified, json.tfa, json.cidr_whitelist], ['', false, false, null])
    })

    it('finds people who may read the repository, and nobody else', async () => {
      await createPerson(service, 'stranger')
      const user = (name: string, credential = ann.token): Ask => ({
        path: `${registry}/user/org.couchdb.user:${name}`,
        credential,
      })
      assert.deepEqual((await expect(user('OWNER'), 200)).json, {
        _id: 'org.couchdb.user:OWNER',
        name: 'owner',
        email: '',
      })
      for (const name of ['stranger', 'nobody-at-all']) await expect(user(name), 404)
      await expect(user('owner', (await createPerson(service, 'outside')).token), 404)
    })
  })

  describe('one’s own tokens', () => {
    const path = `${registry}/npm/v1/tokens`
    const list = async (credential: string) => (await expect({ path, credential }, 200)).json
    const create = (credential: string, json: object): Ask => ({ path, credential, json })

    it('are made by a password, listed without their secrets and revoked by their key or themselves', async () => {
      const tom = await createPerson(service, 'tom')
      const made = (await expect(create(tom.token, { password, name: 'ci', readonly: true, expires: 7 }), 200)).json
      assert.equal(await whoami(made.token), 'tom')
      const { objects, urls } = await list(made.token)
      assert.deepEqual(urls, {})
      assert.deepEqual(
        objects.map(({ key, token, name, readonly }: Record<string, unknown>) => ({ key, token, name, readonly })),
        [{ key: made.key, token: made.token.slice(0, 12), name: 'ci', readonly: true }],
      )
      const lastsMs = Date.parse(made.expires) - Date.parse(made.created)
      assert.ok(lastsMs <= 7 * day && lastsMs > 7 * day - minute, String(lastsMs))
      const other = (await expect(create(made.token, { password }), 403)).json
      assert.match(other.error, /only read/)
      const second = (await expect(create(tom.token, { password }), 200)).json
      await expect({ method: 'DELETE', path: `${path}/token/${second.key}`, credential: tom.token }, 204)
      await ended(second.token)
      await expect({ method: 'DELETE', path: `${path}/token/${made.token}`, credential: made.token }, 204)
      await ended(made.token)
      assert.deepEqual((await list(tom.token)).objects, [])
      assert.equal(JSON.parse(await logged('revokeNpmToken')).path, `${path}/token/***`)
    })

    it('are revoked by a session, and a token revokes no other', async () => {
      const [one, two] = [await expect(couch('ann', password), 201), await expect(couch('ann', password), 201)]
      const [{ key }] = (await list(two.json.token)).objects
      const told = await expect({ method: 'DELETE', path: `${path}/token/${key}`, credential: one.json.token }, 403)
      assert.match(errorOf(told), /A token revokes itself and no other/)
      await whoami(two.json.token)
    })

    it('are not made with a wrong password, for keys, or where they would be bound to what they are not', async () => {
      await expect(create(owner.token, { password: 'wrong' }), 401)
      assert.match(errorOf(await expect(create(service.recoveryKey, { password }), 403)), /Only people/)
      assert.deepEqual((await list(service.recoveryKey)).objects, [])
      for (const bound of [{ cidr_whitelist: ['192.0.2.0/24'] }, { packages: ['a'] }, { scopes: ['@a'] }])
        assert.match(errorOf(await expect(create(owner.token, { password, ...bound }), 400)), /cannot be bound/)
    })
  })
})
