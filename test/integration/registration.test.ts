import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { selfRegisteredAccountsMax } from '../../src/kernel/limits/identity.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner } from '../harness/people.ts'
import { securityAudit, setCounter } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'

const password = 'correct horse battery staple'
const users = '/api/v1/users'

after(closeConnections)

const create = (service: TestService, json: unknown, credential = service.recoveryKey): Promise<Told> =>
  service.ask({ path: users, credential, json })

const signIn = (service: TestService, name: string, secret = password): Promise<Told> =>
  service.ask({ path: '/api/v1/auth/login', json: { name, password: secret } })

const statuses = (told: readonly Told[]): number[] => told.map(({ status }) => status).sort()

forEachEngine((engine) => {
  let service: TestService
  before(async () => {
    service = await startService(engine, { settings: { SVC_ALLOW_REGISTRATION: 'true' } })
  })
  after(() => service.stop())

  describe('the first account', () => {
    it('cannot register itself', async () => {
      const options = await service.ask({ path: '/api/v1/auth/options' })
      assert.deepEqual(options.json, { selfRegistration: false, setupRequired: true, name: null })
      const told = await service.ask({ path: '/api/v1/auth/register', json: { name: 'first', password } })
      assert.equal(told.status, 403)
      assert.equal(told.json.code, 'registration_disabled')
    })

    it('is one of several that are asked for at once: an administrator, in svc-owners, who may write to releases', async () => {
      const asked = ['anna', 'berta', 'clara', 'dora'].map((name) => ({ name, password, administrator: false }))
      const told = await Promise.all(asked.map((json) => create(service, json)))
      assert.deepEqual(statuses(told), [201, 201, 201, 201])
      const owners = told.filter(({ json }) => json.administrator)
      assert.equal(owners.length, 1)
      const owner = owners[0]?.json
      const { token } = (await signIn(service, owner.name)).json
      const me = await service.ask({ path: '/api/v1/auth/me', credential: token })
      assert.deepEqual(me.json, {
        id: owner.id,
        name: owner.name,
        administrator: true,
        credential: 'session',
        grants: [{ repository: 'releases', permissions: ['read', 'write'] }],
      })
      const groups = await service.ask({ path: '/api/v1/access-groups', credential: token })
      assert.equal(groups.json.items.length, 1)
      const { id, ...group } = groups.json.items[0]
      assert.match(id, /^[0-9a-f-]{36}$/)
      assert.deepEqual(group, {
        name: 'svc-owners',
        members: [owner.id],
        accounts: [{ id: owner.id, name: owner.name }],
        grants: [{ repository: 'releases', access: 'write' }],
      })
      for (const { json } of told.filter((each) => each.json.id !== owner.id)) {
        const other = (await signIn(service, json.name)).json
        const view = await service.ask({ path: '/api/v1/auth/me', credential: other.token })
        const { id, name } = json
        assert.deepEqual(view.json, { id, name, administrator: false, credential: 'session', grants: [] })
      }
    })
  })

  describe('self-registration', () => {
    before(() => createOwner(service))

    const register = (name: string, secret = password): Promise<Told> =>
      service.ask({ path: '/api/v1/auth/register', json: { name, password: secret } })

    it('makes a plain account that sees nothing, and signs it in', async () => {
      assert.deepEqual((await service.ask({ path: '/api/v1/auth/options' })).json, {
        selfRegistration: true,
        setupRequired: false,
        name: null,
      })
      const told = await register('newcomer')
      assert.equal(told.status, 201)
      assert.deepEqual(Object.keys(told.json).sort(), ['account', 'expiresAt', 'token'])
      const { id, ...account } = told.json.account
      assert.deepEqual(account, { name: 'newcomer', administrator: false, enabled: true })
      const me = await service.ask({ path: '/api/v1/auth/me', credential: told.json.token })
      assert.deepEqual(me.json, { id, name: 'newcomer', administrator: false, credential: 'session', grants: [] })
      const seen = await service.ask({ path: '/api/v1/repositories', credential: told.json.token })
      assert.deepEqual(seen.json, { items: [], next: null })
      const row = (await securityAudit(service)).at(-1)
      assert.deepEqual([row?.actor, row?.action, row?.subject], [`account:${id}`, 'account.register', `account:${id}`])
    })

    it('keeps the rules of names and passwords, and takes no flag', async () => {
      for (const json of [
        { name: 'ab', password },
        { name: 'newcomer-2', password: 'x'.repeat(11) },
        { name: 'newcomer-2', password, administrator: true },
      ])
        assert.equal((await service.ask({ path: '/api/v1/auth/register', json })).status, 400)
      for (const name of ['newcomer', 'NEWCOMER', 'Owner']) {
        const told = await register(name)
        assert.equal(told.status, 409)
        assert.equal(told.json.code, 'already_exists')
      }
    })

    it('gives a name to one of several who want it at once', async () => {
      const told = await Promise.all(['rush', 'Rush', 'RUSH'].map((name) => register(name)))
      assert.deepEqual(statuses(told), [201, 409, 409])
    })

    it('stops at 900 accounts, where administrators still create', async () => {
      const before = await setCounter(service, 'accounts', selfRegisteredAccountsMax - 1)
      try {
        const told = await Promise.all(['last-a', 'last-b'].map((name) => register(name)))
        assert.deepEqual(statuses(told), [201, 507])
        assert.equal(told.find(({ status }) => status === 507)?.json.code, 'account_limit')
        assert.equal((await create(service, { name: 'by-the-key', password })).status, 201)
      } finally {
        await setCounter(service, 'accounts', before + 2)
      }
    })

    it('is throttled for each address', async () => {
      let told = await register('owner')
      let tries = 1
      for (; told.status !== 429 && tries < 100; tries++) told = await register('owner')
      assert.equal(told.status, 429, `after ${tries} tries`)
      assert.equal(told.json.code, 'rate_limited')
      assert.equal((await register('somebody-else')).status, 429)
      // Who has an account signs in meanwhile.
      assert.equal((await service.ask({ path: '/api/v1/auth/login', json: { name: 'owner', password } })).status, 200)
      service.clock.advance(Number(told.headers['retry-after']) * 1000)
      assert.equal((await register('somebody-else')).status, 201)
    })

    it('is off unless the setting says otherwise', async () => {
      await service.restart({ SVC_ALLOW_REGISTRATION: 'false' })
      assert.deepEqual((await service.ask({ path: '/api/v1/auth/options' })).json, {
        selfRegistration: false,
        setupRequired: false,
        name: null,
      })
      const told = await register('hopeful')
      assert.equal(told.status, 403)
      assert.equal(told.json.code, 'registration_disabled')
      // Whether a name is taken is not told while it is off.
      assert.equal((await register('owner')).status, 403)
    })
  })
})
