import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  sessionLifetimeMs,
  sessionsPerAccountMax,
  signInFreeFailuresPerAccount,
  signInFreeFailuresPerKnownAccount,
} from '../../src/kernel/limits/identity.ts'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, createPerson, grant, type Person } from '../harness/people.ts'
import { everyRow, inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

const password = 'correct horse battery staple'
const wrong = 'wrong horse battery staple'

after(closeConnections)

const signIn = (service: TestService, name: string, secret = password, from?: string): Promise<Told> =>
  service.ask({
    path: '/api/v1/auth/login',
    json: { name, password: secret },
    headers: from === undefined ? {} : { 'x-forwarded-for': from },
  })

const codeFor = async (service: TestService, credential: string): Promise<string | null> => {
  const told = await service.ask({ path: '/api/v1/auth/me', credential })
  return told.status === 200 ? null : told.json.code
}

const logout = (service: TestService, credential: string): Promise<Told> =>
  service.ask({ method: 'POST', path: '/api/v1/auth/logout', credential })

/** The whole answer but for what differs from one request to the next. */
const essence = ({ status, headers, json }: Told): unknown => {
  const { date: _, 'x-request-id': __, ...kept } = headers
  return { status, headers: kept, json: { ...json, requestId: '' } }
}

forEachEngine((engine) => {
  let service: TestService
  /** Another gateway on the same database. */
  let second: TestService
  let owner: Person

  before(async () => {
    service = await startService(engine, { settings: { SVC_TRUSTED_PROXIES: '127.0.0.1' } })
    second = await startService(engine, {
      on: service,
      roles: { gateway: 'api', worker: false },
      settings: { SVC_TRUSTED_PROXIES: '127.0.0.1' },
    })
    owner = await createOwner(service)
  })
  after(async () => {
    await second.stop()
    await service.stop()
  })

  /** Each test signs in from an address of its own, so that no test is throttled for another's tries. */
  let addresses = 0
  const freshAddress = (): string => `203.0.113.${++addresses}`

  describe('signing in', () => {
    it('answers with a token, its end 12 hours from now, and the account', async () => {
      const before = service.clock.now()
      const told = await signIn(service, owner.name)
      const now = service.clock.now()
      assert.equal(told.status, 200)
      assert.match(told.json.token, /^dps_[A-Za-z0-9_-]{43}$/)
      const end = Date.parse(told.json.expiresAt)
      assert.ok(end >= before + 12 * hour && end <= now + 12 * hour, told.json.expiresAt)
      assert.deepEqual(told.json.account, { id: owner.id, name: 'owner', administrator: true, enabled: true })
      assert.equal(told.headers['cache-control'], 'no-store')
    })

    it('gives every session a token of its own', async () => {
      const told = await Promise.all([
        signIn(service, owner.name),
        signIn(service, owner.name),
        signIn(second, owner.name),
      ])
      assert.equal(new Set(told.map(({ json }) => json.token)).size, 3)
    })

    it('answers alike to an unknown name, a wrong password and a disabled account', async () => {
      const from = freshAddress()
      const { id, name } = await createPerson(service, 'disabled-one')
      const known = await createPerson(service, 'known-one')
      const credential = service.recoveryKey
      await service.ask({ method: 'PATCH', path: `/api/v1/users/${id}`, credential, json: { enabled: false } })
      const told = [
        await signIn(service, 'unknown-one', password, from),
        await signIn(service, known.name, wrong, from),
        await signIn(service, name, password, from),
        await signIn(service, name, wrong, from),
        await signIn(service, 'x', 'y', from),
        await signIn(service, 'not a name at all!', 'z'.repeat(1024), from),
        await signIn(service, known.name, `${password} `, from),
        await signIn(service, known.name, password.toUpperCase(), from),
      ]
      for (const each of told) assert.deepEqual(essence(each), essence(told[0] as Told))
      assert.equal(told[0]?.status, 401)
      assert.equal(told[0]?.json.code, 'invalid_credentials')
    })

    it('keeps no token and no password in the database', async () => {
      const { token } = (await signIn(service, owner.name)).json
      const everything = await everyRow(service)
      assert.ok(everything.includes('argon2id'))
      for (const secret of [token, token.slice(4), password, service.recoveryKey, service.healthKey])
        assert.ok(!everything.includes(secret))
    })

    it('needs no credential and minds none', async () => {
      const told = await service.ask({
        path: '/api/v1/auth/login',
        credential: 'x',
        json: { name: owner.name, password },
      })
      assert.equal(told.status, 200)
    })
  })

  describe('wrong tries', () => {
    /** Tries until told to wait; answers how many were looked at, and the refusal. */
    const tryUntilThrottled = async (name: string, from: string): Promise<{ tries: number; told: Told }> => {
      for (let tries = 0; tries < 100; tries++) {
        const told = await signIn(service, name, wrong, from)
        if (told.status === 429) return { tries, told }
        assert.equal(told.status, 401)
      }
      throw new Error('never throttled')
    }

    it('lead to a pause for the account, from whatever address, that no right password shortens', async () => {
      const { name } = await createPerson(service, 'guessed-at')
      const { tries, told } = await tryUntilThrottled(name, freshAddress())
      assert.equal(tries, signInFreeFailuresPerAccount + 1)
      assert.ok(tries < 20)
      assert.equal(told.json.code, 'rate_limited')
      const seconds = Number(told.headers['retry-after'])
      assert.ok(seconds >= 1 && seconds <= 2, told.text)
      for (const spelling of [name, name.toUpperCase()]) {
        const right = await signIn(service, spelling, password, freshAddress())
        assert.equal(right.status, 429)
      }
      assert.equal((await signIn(service, owner.name, password, freshAddress())).status, 200)
      service.clock.advance(seconds * 1000)
      assert.equal((await signIn(service, name, password, freshAddress())).status, 200)
    })

    it('from elsewhere keep nobody out who signed in from a network lately; those from there count by themselves', async () => {
      const { name } = await createPerson(service, 'at-home')
      const home = freshAddress()
      assert.equal((await signIn(service, name, password, home)).status, 200)
      for (const _ of ['once', 'again']) await tryUntilThrottled(name, freshAddress()).catch(() => {})
      assert.equal((await signIn(service, name, password, freshAddress())).status, 429)
      assert.equal((await signIn(service, name, password, home)).status, 200)
      const { tries } = await tryUntilThrottled(name, home)
      assert.ok(signInFreeFailuresPerAccount + 1 + tries < 20, `${tries} tries`)
      service.clock.advance(25 * hour)
      const later = await tryUntilThrottled(name, freshAddress())
      assert.equal(later.tries, signInFreeFailuresPerAccount + 1)
      // After a day the network is one like others.
      assert.equal((await signIn(service, name, password, home)).status, 429)
    })

    it('from one network that knows the account hold up no other that knows it', async () => {
      const { name } = await createPerson(service, 'of-many-homes')
      const [shared, own, third, last] = [freshAddress(), freshAddress(), freshAddress(), freshAddress()]
      for (const home of [shared, own, third, last])
        assert.equal((await signIn(service, name, password, home)).status, 200)
      const { tries } = await tryUntilThrottled(name, shared)
      assert.equal(tries, signInFreeFailuresPerKnownAccount + 1)
      // The free ones are of all of them together, the pause is of each alone.
      assert.equal((await tryUntilThrottled(name, third)).tries, 1)
      assert.equal((await tryUntilThrottled(name, last)).tries, 1)
      assert.equal((await signIn(service, name, password, own)).status, 200)
      for (const paused of [shared, third, last])
        assert.equal((await signIn(service, name, password, paused)).status, 429)
      // The right password came: all but those who wait have their free ones again.
      assert.equal((await tryUntilThrottled(name, own)).tries, signInFreeFailuresPerKnownAccount + 1)
    })

    it('from wherever keep no session from changing the password; those of a session count for it and where it is', async () => {
      const person = await createPerson(service, 'changes-his-mind')
      const { name } = person
      const change = (credential: string, currentPassword: string, from: string): Promise<Told> =>
        service.ask({
          path: '/api/v1/auth/password',
          credential,
          json: { currentPassword, newPassword: 'a wholly different sentence' },
          headers: { 'x-forwarded-for': from },
        })
      const [home, cafe] = [freshAddress(), freshAddress()]
      const mine = (await signIn(service, name, password, home)).json.token
      await tryUntilThrottled(name, freshAddress())
      await tryUntilThrottled(name, home)
      assert.equal((await change(person.token, wrong, cafe)).status, 401)
      let guesses = 1
      while (guesses < 40 && (await change(person.token, wrong, freshAddress())).status === 401) guesses += 1
      assert.equal(guesses, signInFreeFailuresPerKnownAccount + 1)
      assert.equal((await change(person.token, password, freshAddress())).status, 429)
      assert.equal((await signIn(service, name, password, cafe)).status, 429)
      assert.equal((await change(mine, password, freshAddress())).status, 204)
    })

    it('do not count any more once the right password came', async () => {
      const { name } = await createPerson(service, 'forgiven')
      const from = freshAddress()
      for (let tries = 0; tries < signInFreeFailuresPerAccount; tries++)
        assert.equal((await signIn(service, name, wrong, from)).status, 401)
      assert.equal((await signIn(service, name, password, from)).status, 200)
      assert.equal((await tryUntilThrottled(name, from)).tries, signInFreeFailuresPerKnownAccount + 1)
    })

    it('double the pause each time, up to 15 minutes', async () => {
      const { name } = await createPerson(service, 'stubborn')
      const from = freshAddress()
      let { told } = await tryUntilThrottled(name, from)
      const pauses: number[] = []
      for (let round = 0; round < 12; round++) {
        pauses.push(Number(told.headers['retry-after']))
        service.clock.advance(Number(told.headers['retry-after']) * 1000)
        assert.equal((await signIn(service, name, wrong, from)).status, 401)
        told = await signIn(service, name, password, from)
        assert.equal(told.status, 429)
      }
      // The clock goes on by itself, so a second may be missing.
      const expected = [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]
      pauses.forEach((pause, index) => {
        const full = expected[index] ?? 0
        assert.ok(pause === full || pause === full - 1, `${pauses}`)
      })
    })

    it('are counted for names that do not exist exactly as for those that do', async () => {
      const { name } = await createPerson(service, 'existing')
      const there = await tryUntilThrottled(name, freshAddress())
      const notThere = await tryUntilThrottled('not-existing', freshAddress())
      assert.equal(notThere.tries, there.tries)
      assert.equal(notThere.told.json.code, there.told.json.code)
    })

    it('lead to a pause for the address, whatever names were tried', async () => {
      const from = freshAddress()
      let told = await signIn(service, 'victim-0', wrong, from)
      let tries = 1
      // A right one in between does not hide the search.
      for (; told.status !== 429 && tries < 150; tries++) {
        told = await signIn(service, `victim-${tries}`, wrong, from)
        if (tries === 20 || tries === 40) assert.equal((await signIn(service, owner.name, password, from)).status, 200)
      }
      assert.equal(told.json.code, 'rate_limited')
      assert.ok(tries > 20 && tries <= 100, `${tries} tries`)
      const { name } = await createPerson(service, 'newly-here')
      assert.equal((await signIn(service, name, password, from)).status, 429)
      assert.equal((await signIn(service, name, password, freshAddress())).status, 200)
      // Who signed in from there lately is not held up by a search of others.
      assert.equal((await signIn(service, owner.name, password, from)).status, 200)
      service.clock.advance(Number(told.headers['retry-after']) * 1000)
      assert.equal((await signIn(service, name, password, from)).status, 200)
    })

    it('lead to a pause for the whole network of an IPv6 address, which one client has to itself', async () => {
      let told = await signIn(service, 'victim-v6', wrong, '2001:db8:0:7::1')
      let tries = 1
      for (; told.status !== 429 && tries < 150; tries++)
        told = await signIn(service, `victim-v6-${tries}`, wrong, `2001:db8:0:7::${tries.toString(16)}`)
      assert.ok(tries > 20 && tries <= 100, `${tries} tries`)
      assert.equal((await signIn(service, owner.name, password, '2001:db8:0:7:1:2:3:4')).status, 429)
      assert.equal((await signIn(service, owner.name, password, '2001:db8:0:8::1')).status, 200)
    })

    it('count for every gateway on the database', async () => {
      const { name } = await createPerson(service, 'two-doors')
      const from = freshAddress()
      let looked = 0
      for (let tries = 0; tries < 40; tries++) {
        const told = await signIn(tries % 2 === 0 ? service : second, name, wrong, from)
        if (told.status === 401) looked += 1
      }
      assert.equal(looked, signInFreeFailuresPerAccount + 1)
      assert.equal((await signIn(second, name, password, from)).status, 429)
    })

    it('are not forgotten when the service starts again', async () => {
      const { name } = await createPerson(service, 'remembered')
      const from = freshAddress()
      await tryUntilThrottled(name, from)
      await service.restart()
      assert.equal((await signIn(service, name, password, from)).status, 429)
    })

    it('are forgotten after a day without any', async () => {
      const { name } = await createPerson(service, 'long-ago')
      await tryUntilThrottled(name, freshAddress())
      service.clock.advance(25 * hour)
      assert.equal((await tryUntilThrottled(name, freshAddress())).tries, signInFreeFailuresPerAccount + 1)
    })

    it('that come all at once are not all looked at', async () => {
      const { name } = await createPerson(service, 'burst')
      const from = freshAddress()
      const told = await Promise.all(Array.from({ length: 60 }, () => signIn(service, name, wrong, from)))
      const looked = told.filter(({ status }) => status === 401).length
      assert.ok(looked >= signInFreeFailuresPerAccount && looked < 20, `${looked} of 60 were looked at`)
      assert.equal(told.filter(({ status }) => status === 429).length, 60 - looked)
    })

    it('of others do not touch a session that is open', async () => {
      const { name, token } = await createPerson(service, 'undisturbed')
      await tryUntilThrottled(name, freshAddress())
      assert.equal(await codeFor(service, token), null)
    })
  })

  describe('a session', () => {
    it('ends after 12 hours however it is used, and says so only to the holder of the exact secret', async () => {
      const { token } = await createPerson(service, 'half-a-day')
      service.clock.advance(sessionLifetimeMs - 60_000)
      assert.equal(await codeFor(service, token), null)
      service.clock.advance(60_000)
      assert.equal(await codeFor(service, token), 'session_expired')
      assert.equal(await codeFor(second, token), 'session_expired')
      const last = token.at(-1) === 'A' ? 'B' : 'A'
      for (const other of [
        token.slice(0, -1) + last,
        `${token}A`,
        token.slice(0, -1),
        token.toUpperCase(),
        token.slice(4),
      ])
        assert.equal(await codeFor(service, other), 'credential_invalid')
      assert.equal((await logout(service, token)).json.code, 'session_expired')
    })

    it('is forgotten some time after its end', async () => {
      const { id, token } = await createPerson(service, 'a-week-later')
      service.clock.advance(sessionLifetimeMs + 8 * 24 * hour)
      assert.equal(await codeFor(service, token), 'session_expired')
      // The upkeep runs when the service starts.
      await service.restart()
      await until('the session is forgotten', async () => (await codeFor(service, token)) === 'credential_invalid')
      const kept = await inDatabase(service, (q) =>
        q.selectFrom('sessions').selectAll().where('account_id', '=', id).execute(),
      )
      assert.deepEqual(kept, [])
      // So are all wrong tries, and from where somebody signed in.
      await until('the tries are forgotten', async () => {
        const counted = await inDatabase(service, (q) => q.selectFrom('throttles').select('key').execute())
        return counted.length === 0
      })
    })

    it('ends at logout, at once and on every gateway, and no other with it', async () => {
      const { name, token } = await createPerson(service, 'leaving')
      const other = (await signIn(service, name)).json.token
      assert.equal(await codeFor(second, token), null)
      const told = await logout(service, token)
      assert.equal(told.status, 204)
      assert.equal(told.text, '')
      assert.deepEqual(
        [await codeFor(service, token), await codeFor(second, token)],
        ['credential_invalid', 'credential_invalid'],
      )
      assert.deepEqual([await codeFor(service, other), await codeFor(second, other)], [null, null])
      assert.equal((await logout(service, token)).status, 401)
      assert.equal((await logout(second, other)).status, 204)
      assert.equal(await codeFor(service, other), 'credential_invalid')
    })

    it('may be ended by several requests at once', async () => {
      const { token } = await createPerson(service, 'leaving-twice')
      const told = await Promise.all([service, second, service, second].map((on) => logout(on, token)))
      assert.ok(told.some(({ status }) => status === 204))
      for (const { status } of told) assert.ok(status === 204 || status === 401)
      assert.equal(await codeFor(service, token), 'credential_invalid')
    })

    it('is not what logout of a key ends: it answers 204 and changes nothing', async () => {
      for (const key of [service.recoveryKey, service.healthKey]) {
        for (let round = 0; round < 2; round++) assert.equal((await logout(service, key)).status, 204)
        assert.equal(await codeFor(service, key), null)
      }
    })

    it('ends on every gateway when the account is disabled or gets a new password', async () => {
      for (const json of [{ enabled: false }, { password: 'quite another password' }]) {
        const { id, token } = await createPerson(service, `ended-by-${Object.keys(json)}`)
        assert.equal(await codeFor(second, token), null)
        await service.ask({ method: 'PATCH', path: `/api/v1/users/${id}`, credential: service.recoveryKey, json })
        assert.equal(await codeFor(second, token), 'credential_invalid')
      }
    })

    it('loses what a group gave it on every gateway at the next request', async () => {
      const person = await createPerson(service, 'grouped')
      const path = '/api/v1/repositories/releases'
      const seen = async (on: TestService): Promise<number> => (await on.ask({ path, credential: person.token })).status
      const group = await grant(service, person, 'releases', 'read')
      assert.deepEqual([await seen(service), await seen(second)], [200, 200])
      await service.ask({ method: 'DELETE', path: `/api/v1/access-groups/${group}`, credential: service.recoveryKey })
      assert.deepEqual([await seen(service), await seen(second)], [404, 404])
    })

    it('is one of at most 32: a new one ends the oldest', async () => {
      const { name, token } = await createPerson(service, 'many-screens')
      const tokens = [token]
      while (tokens.length < sessionsPerAccountMax) tokens.push((await signIn(service, name)).json.token)
      assert.equal(await codeFor(service, token), null)
      tokens.push((await signIn(second, name)).json.token)
      const [oldest, ...others] = await Promise.all(tokens.map(async (each) => (await codeFor(service, each)) === null))
      assert.equal(oldest, false)
      assert.deepEqual(others.length, sessionsPerAccountMax)
      assert.ok(others.every(Boolean))
      assert.equal(await codeFor(service, token), 'credential_invalid')
    })

    it('is one of exactly 32 when more are opened at once', async () => {
      const { name, token } = await createPerson(service, 'rush-hour')
      const told = await Promise.all(
        Array.from({ length: 36 }, (_, index) => signIn(index % 2 === 0 ? service : second, name)),
      )
      const tokens = [token, ...told.map(({ json }) => json.token)]
      const codes = await Promise.all(tokens.map((each) => codeFor(service, each)))
      assert.equal(codes.filter((code) => code === null).length, sessionsPerAccountMax)
    })
  })

  it('a read gateway signs nobody in or out, but knows the sessions of the writer', async () => {
    const reader = await startService(engine, { on: service, roles: { gateway: 'reader', worker: false } })
    try {
      const { token } = await createPerson(service, 'reading-only')
      assert.equal(await codeFor(reader, token), null)
      assert.equal((await signIn(reader, 'reading-only')).status, 405)
      assert.equal((await logout(reader, token)).status, 405)
      assert.equal((await logout(service, token)).status, 204)
      assert.equal(await codeFor(reader, token), 'credential_invalid')
    } finally {
      await reader.stop()
    }
  })
})
