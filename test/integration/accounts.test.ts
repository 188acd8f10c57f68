import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { accountsMax } from '../../src/kernel/limits/identity.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, createPerson, grant, type Person } from '../harness/people.ts'
import { everyRow, securityAudit, setCounter } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'

const password = 'correct horse battery staple'
const users = '/api/v1/users'

after(closeConnections)

const create = (service: TestService, json: unknown, credential = service.recoveryKey): Promise<Told> =>
  service.ask({ path: users, credential, json })

const change = (service: TestService, id: string, json: unknown, credential = service.recoveryKey): Promise<Told> =>
  service.ask({ method: 'PATCH', path: `${users}/${id}`, credential, json })

const signIn = (service: TestService, name: string, secret = password): Promise<Told> =>
  service.ask({ path: '/api/v1/auth/login', json: { name, password: secret } })

const whoAmI = async (service: TestService, credential: string): Promise<number> =>
  (await service.ask({ path: '/api/v1/auth/me', credential })).status

const statuses = (told: readonly Told[]): number[] => told.map(({ status }) => status).sort()

forEachEngine((engine) => {
  describe('accounts', () => {
    let service: TestService
    let owner: Person
    let person: Person

    before(async () => {
      service = await startService(engine)
      owner = await createOwner(service)
      person = await createPerson(service, 'Person.One')
    })
    after(() => service.stop())

    it('are created by administrators and the recovery key, and never show a password', async () => {
      const told = await create(service, { name: 'by-owner', password }, owner.token)
      assert.equal(told.status, 201)
      const { id, ...rest } = told.json
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)
      assert.deepEqual(rest, { name: 'by-owner', administrator: false, enabled: true })
      const admin = await create(service, { name: 'second-admin', password, administrator: true }, owner.token)
      assert.equal(admin.json.administrator, true)
      const session = await signIn(service, 'second-admin')
      assert.equal((await service.ask({ path: users, credential: session.json.token })).status, 200)
      // Only the first owner is given files; another administrator sees none without a group.
      const me = await service.ask({ path: '/api/v1/auth/me', credential: session.json.token })
      assert.deepEqual(me.json.grants, [])
    })

    it('are listed by name without regard to case, with exactly four fields each', async () => {
      for (const name of ['zed', 'Yan', 'x.x', '_underscore', '-dash', '123'])
        assert.equal((await create(service, { name, password })).status, 201, name)
      const { items } = (await service.ask({ path: users, credential: owner.token })).json
      const keys = items.map(({ name }: { name: string }) => name.toLowerCase())
      assert.deepEqual(keys, keys.toSorted())
      for (const item of items) assert.deepEqual(Object.keys(item).sort(), ['administrator', 'enabled', 'id', 'name'])
    })

    it('have names of 3 to 64 letters, digits, _ . and -', async () => {
      for (const name of ['abc', 'x'.repeat(64), 'A.b_c-9']) {
        const told = await create(service, { name, password })
        assert.equal(told.status, 201, name)
        assert.equal(told.json.name, name)
      }
      for (const name of ['', 'ab', 'x'.repeat(65), 'a b', 'a/b', 'äöü', 'a\u0000b', 'abc\n', ' abc', 'a@b', 7, null]) {
        const told = await create(service, { name, password })
        assert.equal(told.status, 400, JSON.stringify(name))
        assert.equal(told.json.details[0].pointer, '/name')
      }
    })

    it('have names that are told apart without regard to case', async () => {
      assert.equal((await create(service, { name: 'Mixed.Case', password })).status, 201)
      for (const name of ['mixed.case', 'MIXED.CASE', 'Mixed.Case']) {
        const told = await create(service, { name, password })
        assert.equal(told.status, 409, name)
        assert.equal(told.json.code, 'already_exists')
      }
      const told = await signIn(service, 'mIXED.cASE')
      assert.equal(told.status, 200)
      assert.equal(told.json.account.name, 'Mixed.Case')
    })

    it('have one name each, also when several ask for it at once', async () => {
      const names = ['same', 'SAME', 'Same', 'same']
      const told = await Promise.all(names.map((name) => create(service, { name, password })))
      assert.deepEqual(statuses(told), [201, 409, 409, 409])
    })

    it('have passwords of 12 to 128 characters, counted as people count them', async () => {
      const good = {
        shortest: 'x'.repeat(12),
        longest: 'y'.repeat(128),
        emoji: '🔑'.repeat(12),
        words: ' a b c d e f ',
      }
      for (const [name, secret] of Object.entries(good)) {
        assert.equal((await create(service, { name, password: secret })).status, 201, name)
        assert.equal((await signIn(service, name, secret)).status, 200, name)
        assert.equal((await signIn(service, name, `${secret}x`)).status, 401, name)
      }
      const bad = [
        '',
        'x'.repeat(11),
        'y'.repeat(129),
        '🔑'.repeat(11),
        `${'x'.repeat(12)}\u0000`,
        `\ud800${'x'.repeat(12)}`,
        12,
      ]
      for (const secret of bad) {
        const told = await create(service, { name: 'never-made', password: secret })
        assert.equal(told.status, 400, JSON.stringify(secret))
        assert.equal(told.json.details[0].pointer, '/password')
        assert.ok(!told.text.includes(String(secret || 'no secret')), 'the answer repeats the password')
        const reset = await change(service, person.id, { password: secret })
        assert.equal(reset.status, 400)
      }
    })

    it('takes a password as it is typed on another keyboard: composed or decomposed', async () => {
      const composed = 'pässwörd-ümläut'
      assert.equal((await create(service, { name: 'umlaut', password: composed.normalize('NFC') })).status, 201)
      assert.equal((await signIn(service, 'umlaut', composed.normalize('NFD'))).status, 200)
    })

    it('refuse what has no meaning: unknown fields, wrong types, another administrator flag later', async () => {
      for (const json of [
        { name: 'nobody', password, enabled: true },
        { name: 'nobody', password, administrator: 'true' },
        { name: 'nobody', password, administrator: null },
        { name: 'nobody' },
        { password },
        [],
      ])
        assert.equal((await create(service, json)).status, 400, JSON.stringify(json))
      for (const json of [{ administrator: true }, { name: 'other' }, { enabled: 'yes' }, { enabled: null }, { id: 1 }])
        assert.equal((await change(service, person.id, json)).status, 400, JSON.stringify(json))
    })

    it('answers a change of nothing with the account as it is', async () => {
      const before = (await securityAudit(service)).length
      const told = await change(service, person.id, {})
      assert.equal(told.status, 200, told.text)
      assert.deepEqual(told.json, { id: person.id, name: 'Person.One', administrator: false, enabled: true })
      assert.equal((await securityAudit(service)).length, before)
      assert.equal((await change(service, '00000000-0000-7000-8000-000000000000', {})).status, 404)
    })

    it('lose every session when disabled, and get none until enabled again', async () => {
      const { id, name, token } = await createPerson(service, 'off-and-on')
      const second = (await signIn(service, name)).json.token
      const told = await change(service, id, { enabled: false }, owner.token)
      assert.equal(told.status, 200)
      assert.equal(told.json.enabled, false)
      assert.deepEqual([await whoAmI(service, token), await whoAmI(service, second)], [401, 401])
      const refused = await signIn(service, name)
      assert.equal(refused.status, 401)
      assert.equal(refused.json.code, 'invalid_credentials')
      assert.equal((await change(service, id, { enabled: true }, owner.token)).json.enabled, true)
      // What was ended stays ended.
      assert.deepEqual([await whoAmI(service, token), await whoAmI(service, second)], [401, 401])
      assert.equal((await signIn(service, name)).status, 200)
    })

    it('lose every session when an administrator sets a new password, which is the only one from then on', async () => {
      const { id, name, token } = await createPerson(service, 'forgetful')
      const other = await createPerson(service, 'unaffected')
      const told = await change(service, id, { password: 'quite another password' }, owner.token)
      assert.equal(told.status, 200)
      assert.equal(await whoAmI(service, token), 401)
      assert.equal((await signIn(service, name)).status, 401)
      assert.equal((await signIn(service, name, 'quite another password')).status, 200)
      assert.equal(await whoAmI(service, other.token), 200)
    })

    it('can be disabled together with a reset, and a disabled one still gets its new password', async () => {
      const { id, name } = await createPerson(service, 'both-at-once')
      const told = await change(service, id, { enabled: false, password: 'quite another password' })
      assert.equal(told.json.enabled, false)
      assert.equal((await signIn(service, name, 'quite another password')).status, 401)
      await change(service, id, { enabled: true })
      assert.equal((await signIn(service, name, 'quite another password')).status, 200)
    })

    it('answers 404 to a change of an account that does not exist', async () => {
      const told = await change(service, '00000000-0000-7000-8000-000000000000', { enabled: false })
      assert.equal(told.status, 404)
      assert.equal(told.json.code, 'not_found')
    })

    it('are 1,000 at most, also when several are created at once', async () => {
      const before = await setCounter(service, 'accounts', accountsMax - 1)
      try {
        const names = ['thousand-a', 'thousand-b', 'thousand-c']
        const told = await Promise.all(names.map((name) => create(service, { name, password })))
        assert.deepEqual(statuses(told), [201, 507, 507])
        for (const { status, json } of told) if (status === 507) assert.equal(json.code, 'account_limit')
        // A taken name says so even at the limit.
        assert.equal((await create(service, { name: person.name, password })).status, 409)
      } finally {
        await setCounter(service, 'accounts', before + 1)
      }
      const { items } = (await service.ask({ path: users, credential: owner.token })).json
      assert.equal(items.filter(({ name }: { name: string }) => name.startsWith('thousand-')).length, 1)
      assert.equal(items.length, before + 1)
    })

    it('leave a line in the security audit for every change, without any secret', async () => {
      const { length } = await securityAudit(service)
      const made = await create(service, { name: 'audited', password: 'a very secret password' }, owner.token)
      const { id } = made.json
      await change(service, id, { enabled: false, password: 'another secret password' }, owner.token)
      await change(service, id, { enabled: true })
      await create(service, { name: 'audited', password })
      const rows = (await securityAudit(service)).slice(length)
      assert.deepEqual(
        rows.map(({ actor, action, subject, client_address }) => ({ actor, action, subject, client_address })),
        [
          [`account:${owner.id}`, 'account.create'],
          [`account:${owner.id}`, 'account.disable'],
          [`account:${owner.id}`, 'account.reset-password'],
          ['key:bootstrap-owner', 'account.enable'],
        ].map(([actor, action]) => ({ actor, action, subject: `account:${id}`, client_address: '127.0.0.1' })),
      )
      const everything = await everyRow(service)
      for (const secret of [
        'a very secret password',
        'another secret password',
        password,
        owner.token,
        service.recoveryKey,
      ])
        assert.ok(!everything.includes(secret), 'a secret is stored in the clear')
    })

    it('are nobody’s business but the administrators’', async () => {
      for (const credential of [person.token, service.healthKey]) {
        const asked = [
          { path: users },
          { path: users, json: { name: 'mine', password, administrator: true } },
          { method: 'PATCH', path: `${users}/${person.id}`, json: { enabled: true } },
          { method: 'PATCH', path: `${users}/${owner.id}`, json: { password } },
        ]
        for (const request of asked) {
          const told = await service.ask({
            ...request,
            credential: credential === person.token ? (await signIn(service, person.name)).json.token : credential,
          })
          assert.equal(told.status, 403)
          assert.equal(told.json.code, 'permission_missing')
        }
      }
    })

    it('who one is is told for the keys of the file', async () => {
      const recovery = await service.ask({ path: '/api/v1/auth/me', credential: service.recoveryKey })
      assert.deepEqual(recovery.json, {
        id: 'bootstrap-owner',
        name: 'bootstrap-owner',
        administrator: true,
        credential: 'file-key',
        grants: [{ repository: 'releases', permissions: ['read', 'write'] }],
      })
      const health = await service.ask({ path: '/api/v1/auth/me', credential: service.healthKey })
      assert.deepEqual(health.json, {
        ...{ id: 'health', name: 'health', administrator: false, credential: 'file-key', grants: [] },
      })
    })

    it('show the strongest grant of all groups, once for each repository', async () => {
      const person = await createPerson(service, 'of-two-groups')
      await grant(service, person, 'releases', 'read')
      const me = () => service.ask({ path: '/api/v1/auth/me', credential: person.token })
      assert.deepEqual((await me()).json.grants, [{ repository: 'releases', permissions: ['read'] }])
      await grant(service, person, 'releases', 'write')
      assert.deepEqual((await me()).json.grants, [{ repository: 'releases', permissions: ['read', 'write'] }])
    })
  })
})
