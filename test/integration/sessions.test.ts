import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { sessionLifetimeMs, sessionsPerAccountMax } from '../../src/kernel/limits/identity.ts'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createPerson, grant, password } from '../harness/people.ts'
import { everyRow, inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { refusalOf, signInFrom, signInSite } from '../harness/sign-in-site.ts'
import { until } from '../harness/until.ts'

const wrong = 'wrong horse battery staple'

after(closeConnections)

const logout = (service: TestService, credential: string): Promise<Told> =>
  service.ask({ method: 'POST', path: '/api/v1/auth/logout', credential })

/** The whole answer but for what differs from one request to the next. */
const essence = ({ status, headers, json }: Told): unknown => {
  const { date: _, 'x-request-id': __, ...kept } = headers
  return { status, headers: kept, json: { ...json, requestId: '' } }
}

forEachEngine((engine) => {
  const site = signInSite(engine)
  const { freshAddress } = site

  describe('signing in', () => {
    it('answers with a token, its end 12 hours from now, and the account', async () => {
      const before = site.service.clock.now()
      const told = await signInFrom(site.service, site.owner.name)
      const now = site.service.clock.now()
      assert.equal(told.status, 200)
      assert.match(told.json.token, /^dps_[A-Za-z0-9_-]{43}$/)
      const end = Date.parse(told.json.expiresAt)
      assert.ok(end >= before + 12 * hour && end <= now + 12 * hour, told.json.expiresAt)
      assert.deepEqual(told.json.account, { id: site.owner.id, name: 'owner', administrator: true, enabled: true })
      assert.equal(told.headers['cache-control'], 'no-store')
    })

    it('gives every session a token of its own', async () => {
      const told = await Promise.all([
        signInFrom(site.service, site.owner.name),
        signInFrom(site.service, site.owner.name),
        signInFrom(site.second, site.owner.name),
      ])
      assert.equal(new Set(told.map(({ json }) => json.token)).size, 3)
    })

    it('answers alike to an unknown name, a wrong password and a disabled account', async () => {
      const from = freshAddress()
      const { id, name } = await createPerson(site.service, 'disabled-one')
      const known = await createPerson(site.service, 'known-one')
      const credential = site.service.recoveryKey
      await site.service.ask({ method: 'PATCH', path: `/api/v1/users/${id}`, credential, json: { enabled: false } })
      const told = [
        await signInFrom(site.service, 'unknown-one', password, from),
        await signInFrom(site.service, known.name, wrong, from),
        await signInFrom(site.service, name, password, from),
        await signInFrom(site.service, name, wrong, from),
        await signInFrom(site.service, 'x', 'y', from),
        await signInFrom(site.service, 'not a name at all!', 'z'.repeat(1024), from),
        await signInFrom(site.service, known.name, `${password} `, from),
        await signInFrom(site.service, known.name, password.toUpperCase(), from),
      ]
      for (const each of told) assert.deepEqual(essence(each), essence(told[0] as Told))
      assert.equal(told[0]?.status, 401)
      assert.equal(told[0]?.json.code, 'invalid_credentials')
    })

    it('keeps no token and no password in the database', async () => {
      const { token } = (await signInFrom(site.service, site.owner.name)).json
      const everything = await everyRow(site.service)
      assert.ok(everything.includes('argon2id'))
      for (const secret of [token, token.slice(4), password, site.service.recoveryKey, site.service.healthKey])
        assert.ok(!everything.includes(secret))
    })

    it('needs no credential and minds none', async () => {
      const told = await site.service.ask({
        path: '/api/v1/auth/login',
        credential: 'x',
        json: { name: site.owner.name, password },
      })
      assert.equal(told.status, 200)
    })
  })

  describe('a session', () => {
    it('ends after 12 hours however it is used, and says so only to the holder of the exact secret', async () => {
      const { token } = await createPerson(site.service, 'half-a-day')
      site.service.clock.advance(sessionLifetimeMs - 60_000)
      assert.equal(await refusalOf(site.service, token), null)
      site.service.clock.advance(60_000)
      assert.equal(await refusalOf(site.service, token), 'session_expired')
      assert.equal(await refusalOf(site.second, token), 'session_expired')
      const last = token.at(-1) === 'A' ? 'B' : 'A'
      for (const other of [
        token.slice(0, -1) + last,
        `${token}A`,
        token.slice(0, -1),
        token.toUpperCase(),
        token.slice(4),
      ])
        assert.equal(await refusalOf(site.service, other), 'credential_invalid')
      assert.equal((await logout(site.service, token)).json.code, 'session_expired')
    })

    it('is forgotten some time after its end', async () => {
      const { id, token } = await createPerson(site.service, 'a-week-later')
      site.service.clock.advance(sessionLifetimeMs + 8 * 24 * hour)
      assert.equal(await refusalOf(site.service, token), 'session_expired')
      // The upkeep runs when the service starts.
      await site.service.restart()
      await until(
        'the session is forgotten',
        async () => (await refusalOf(site.service, token)) === 'credential_invalid',
      )
      const kept = await inDatabase(site.service, (q) =>
        q.selectFrom('sessions').selectAll().where('account_id', '=', id).execute(),
      )
      assert.deepEqual(kept, [])
      // So are all wrong tries, and from where somebody signed in.
      await until('the tries are forgotten', async () => {
        const counted = await inDatabase(site.service, (q) => q.selectFrom('throttles').select('key').execute())
        return counted.length === 0
      })
    })

    it('ends at logout, at once and on every gateway, and no other with it', async () => {
      const { name, token } = await createPerson(site.service, 'leaving')
      const other = (await signInFrom(site.service, name)).json.token
      assert.equal(await refusalOf(site.second, token), null)
      const told = await logout(site.service, token)
      assert.equal(told.status, 204)
      assert.equal(told.text, '')
      assert.deepEqual(
        [await refusalOf(site.service, token), await refusalOf(site.second, token)],
        ['credential_invalid', 'credential_invalid'],
      )
      assert.deepEqual([await refusalOf(site.service, other), await refusalOf(site.second, other)], [null, null])
      assert.equal((await logout(site.service, token)).status, 401)
      assert.equal((await logout(site.second, other)).status, 204)
      assert.equal(await refusalOf(site.service, other), 'credential_invalid')
    })

    it('may be ended by several requests at once', async () => {
      const { token } = await createPerson(site.service, 'leaving-twice')
      const told = await Promise.all(
        [site.service, site.second, site.service, site.second].map((on) => logout(on, token)),
      )
      assert.ok(told.some(({ status }) => status === 204))
      for (const { status } of told) assert.ok(status === 204 || status === 401)
      assert.equal(await refusalOf(site.service, token), 'credential_invalid')
    })

    it('is not what logout of a key ends: it answers 204 and changes nothing', async () => {
      for (const key of [site.service.recoveryKey, site.service.healthKey]) {
        for (let round = 0; round < 2; round++) assert.equal((await logout(site.service, key)).status, 204)
        assert.equal(await refusalOf(site.service, key), null)
      }
    })

    it('ends on every gateway when the account is disabled or gets a new password', async () => {
      for (const json of [{ enabled: false }, { password: 'quite another password' }]) {
        const { id, token } = await createPerson(site.service, `ended-by-${Object.keys(json)}`)
        assert.equal(await refusalOf(site.second, token), null)
        await site.service.ask({
          method: 'PATCH',
          path: `/api/v1/users/${id}`,
          credential: site.service.recoveryKey,
          json,
        })
        assert.equal(await refusalOf(site.second, token), 'credential_invalid')
      }
    })

    it('loses what a group gave it on every gateway at the next request', async () => {
      const person = await createPerson(site.service, 'grouped')
      const path = '/api/v1/repositories/releases'
      const seen = async (on: TestService): Promise<number> => (await on.ask({ path, credential: person.token })).status
      const group = await grant(site.service, person, 'releases', 'read')
      assert.deepEqual([await seen(site.service), await seen(site.second)], [200, 200])
      await site.service.ask({
        method: 'DELETE',
        path: `/api/v1/access-groups/${group}`,
        credential: site.service.recoveryKey,
      })
      assert.deepEqual([await seen(site.service), await seen(site.second)], [404, 404])
    })

    it('is listed to its account alone, which ends those elsewhere', async () => {
      const { name, token } = await createPerson(site.service, 'two-screens')
      const stranger = await createPerson(site.service, 'somebody-else')
      const { token: second } = (await signInFrom(site.second, name)).json
      const path = '/api/v1/auth/sessions'
      const { items } = (await site.service.ask({ path, credential: second })).json
      assert.deepEqual(
        items.map(({ current }: { current: boolean }) => current),
        [true, false],
      )
      assert.ok(Date.parse(items[0].expiresAt) > Date.parse(items[0].createdAt))
      const end = (credential: string) =>
        site.service.ask({ method: 'DELETE', path: `${path}/${items[1].id}`, credential })
      assert.equal((await end(stranger.token)).status, 404)
      assert.equal(await refusalOf(site.second, token), null, 'a session of somebody else stays')
      assert.equal((await end(second)).status, 204)
      assert.equal((await end(second)).status, 404)
      assert.equal(await refusalOf(site.second, token), 'credential_invalid')
      assert.equal((await site.service.ask({ path, credential: second })).json.items.length, 1)
    })

    it('is one of at most 32: a new one ends the oldest', async () => {
      const { name, token } = await createPerson(site.service, 'many-screens')
      const tokens = [token]
      while (tokens.length < sessionsPerAccountMax) tokens.push((await signInFrom(site.service, name)).json.token)
      assert.equal(await refusalOf(site.service, token), null)
      tokens.push((await signInFrom(site.second, name)).json.token)
      const [oldest, ...others] = await Promise.all(
        tokens.map(async (each) => (await refusalOf(site.service, each)) === null),
      )
      assert.equal(oldest, false)
      assert.deepEqual(others.length, sessionsPerAccountMax)
      assert.ok(others.every(Boolean))
      assert.equal(await refusalOf(site.service, token), 'credential_invalid')
    })

    it('is one of exactly 32 when more are opened at once', async () => {
      const { name, token } = await createPerson(site.service, 'rush-hour')
      const told = await Promise.all(
        Array.from({ length: 36 }, (_, index) => signInFrom(index % 2 === 0 ? site.service : site.second, name)),
      )
      const tokens = [token, ...told.map(({ json }) => json.token)]
      const codes = await Promise.all(tokens.map((each) => refusalOf(site.service, each)))
      assert.equal(codes.filter((code) => code === null).length, sessionsPerAccountMax)
    })
  })

  it('a read gateway signs nobody in or out, but knows the sessions of the writer', async () => {
    const reader = await startService(engine, { on: site.service, roles: { gateway: 'reader', worker: false } })
    try {
      const { token } = await createPerson(site.service, 'reading-only')
      assert.equal(await refusalOf(reader, token), null)
      assert.equal((await signInFrom(reader, 'reading-only')).status, 405)
      assert.equal((await logout(reader, token)).status, 405)
      assert.equal((await logout(site.service, token)).status, 204)
      assert.equal(await refusalOf(reader, token), 'credential_invalid')
    } finally {
      await reader.stop()
    }
  })
})
