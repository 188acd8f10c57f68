import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { openDatabase } from '../../src/database/open.ts'
import { repositoryActions } from '../../src/kernel/actions.ts'
import { type Ask, closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { addFileKeys } from '../harness/file-keys.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import {
  activeKey,
  binding,
  createServiceAccount,
  freshName,
  type TestServiceAccount,
} from '../harness/service-keys.ts'

after(closeConnections)

const path = '/api/v1/service-accounts'
const nobody = '00000000-0000-7000-8000-000000000000'

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  let serviceAdministrator: string
  let administrator: string
  before(async () => {
    service = await startService(engine)
    const keys = await addFileKeys(service, [
      { id: 'of-services', serviceAdministrator: true },
      { id: 'of-people', administrator: true },
    ])
    serviceAdministrator = keys['of-services'] ?? ''
    administrator = keys['of-people'] ?? ''
    owner = await createOwner(service)
  })
  after(() => service.stop())

  const creation = (json: unknown, credential = service.recoveryKey): Ask => ({ path, credential, json })
  const read = async (id: string): Promise<TestServiceAccount> =>
    (await expectAnswer(service, { path: `${path}/${id}`, credential: service.recoveryKey }, 200)).json
  const counter = async (move: number): Promise<number> => {
    const database = await openDatabase({ url: service.databaseUrl, report: () => {} })
    try {
      return await database.transaction(async (tx) => {
        const row = await tx
          .updateTable('counters')
          .set((eb) => ({ value: eb('value', '+', move) }))
          .where('name', '=', 'service_accounts')
          .returning('value')
          .executeTakeFirstOrThrow()
        return row.value
      })
    } finally {
      await database[Symbol.asyncDispose]()
    }
  }
  const rows = async (): Promise<number> => {
    let found = 0
    for (let after: string | null = nobody; after !== null; ) {
      const page = await expectAnswer(service, { path: `${path}?after=${after}`, credential: service.recoveryKey }, 200)
      found += page.json.items.length
      after = page.json.next
    }
    return found
  }

  it('is created by the recovery key and by file keys for services, by nobody else', async () => {
    const bindings = [binding('releases', 'repository.read'), binding('unknown-yet', 'artifact.delete')]
    for (const credential of [service.recoveryKey, serviceAdministrator]) {
      const name = freshName('Build.Server_1-')
      const { json } = await expectAnswer(service, creation({ name, bindings }, credential), 201)
      const { id, createdAt, ...rest } = json
      assert.deepEqual(rest, { name, enabled: true, revision: 1, bindings })
      assert.ok(Math.abs(Date.parse(createdAt) - service.clock.now()) < 60_000)
      assert.deepEqual(await read(id), json)
    }
    const robot = await createServiceAccount(service, bindings)
    const key = await activeKey(service, robot.id, { bindings })
    for (const credential of [owner.token, administrator, service.healthKey, key.secret])
      await expectAnswer(service, creation({ name: freshName('no'), bindings }, credential), 403, 'permission_missing')
  })

  it('has a name of 3 to 64 letters, digits, _ . or -, told apart without regard to case', async () => {
    for (const name of ['abc', 'x'.repeat(64), '_.-'])
      await expectAnswer(service, creation({ name, bindings: [] }), 201)
    for (const name of ['ab', 'x'.repeat(65), 'a b c', 'abc/', 'äbc', '', null, 'abc\n'])
      await expectAnswer(service, creation({ name, bindings: [] }), 400, 'invalid_request')
    await expectAnswer(service, creation({ name: 'ABC', bindings: [] }), 409, 'already_exists')
  })

  it('has up to 64 bindings of 1 to 24 different repository actions', async () => {
    const many = Array.from({ length: 64 }, (_, i) => binding(`r${i}`, ...repositoryActions))
    const made = await expectAnswer(service, creation({ name: freshName('many'), bindings: many }), 201)
    assert.deepEqual(made.json.bindings, many)
    const resource = { kind: 'repository', id: 'releases' }
    for (const bindings of [
      [...many, binding('one-more', 'content.read')],
      [{ resource, actions: [] }],
      [{ resource, actions: ['content.read', 'content.read'] }],
      [{ resource, actions: ['content.fly'] }],
      [{ resource, actions: ['credential.manage'] }],
      [{ resource, actions: ['backup.read'] }],
      [{ resource: { kind: 'bucket', id: 'releases' }, actions: ['content.read'] }],
      [{ resource: { kind: 'repository', id: 'UPPER' }, actions: ['content.read'] }],
      [{ resource: { kind: 'repository', id: '*' }, actions: ['content.read'] }],
      [{ resource: { kind: 'repository' }, actions: ['content.read'] }],
      [{ resource, actions: ['content.read'], effect: 'deny' }],
      [{ resource }],
      {},
      null,
    ])
      await expectAnswer(service, creation({ name: freshName('bad'), bindings }), 400, 'invalid_request')
  })

  it('adds up several bindings of one repository', async () => {
    const bindings = [binding('releases', 'repository.read'), binding('releases', 'content.read')]
    const robot = await createServiceAccount(service, bindings)
    const key = await activeKey(service, robot.id, {
      bindings: [bindings[1] ?? binding('x'), bindings[0] ?? binding('x')],
    })
    const told = await expectAnswer(service, { path: '/api/v1/auth/permissions', credential: key.secret }, 200)
    assert.deepEqual(told.json.repositories, [{ repository: 'releases', actions: ['repository.read', 'content.read'] }])
  })

  it('is changed only by who knows its revision', async () => {
    const robot = await createServiceAccount(service, [])
    const one = `${path}/${robot.id}`
    const credential = service.recoveryKey
    const patch = (expectedRevision: unknown, enabled: unknown): Ask => ({
      method: 'PATCH',
      path: one,
      credential,
      json: { expectedRevision, enabled },
    })
    const put = (expectedRevision: unknown, bindings: unknown = []): Ask => ({
      method: 'PUT',
      path: `${one}/policy`,
      credential,
      json: { expectedRevision, bindings },
    })
    const off = await expectAnswer(service, patch(1, false), 200)
    assert.deepEqual(off.json, { ...robot, enabled: false, revision: 2 })
    for (const request of [patch(1, true), patch(3, true), put(1), put(3)])
      await expectAnswer(service, request, 409, 'revision_mismatch')
    for (const wrong of [0, -1, 2_147_483_647, 1.5, '2', null]) {
      await expectAnswer(service, patch(wrong, true), 400, 'invalid_request')
      await expectAnswer(service, put(wrong), 400, 'invalid_request')
    }
    await expectAnswer(service, patch(2, 'yes'), 400, 'invalid_request')
    await expectAnswer(service, { ...patch(2, true), json: { expectedRevision: 2, enabled: true, name: 'x' } }, 400)
    const bindings = [binding('releases', 'content.read')]
    const next = await expectAnswer(service, put(2, bindings), 200)
    assert.deepEqual(next.json, { ...robot, enabled: false, revision: 3, bindings })
    assert.deepEqual(await read(robot.id), next.json)
    assert.deepEqual((await expectAnswer(service, { path: `${one}/policy`, credential }, 200)).json, next.json)
    const race = await Promise.all(
      [patch(3, true), patch(3, true), put(3), put(3)].map((request) => service.ask(request)),
    )
    assert.deepEqual(race.map(({ status }) => status).sort(), [200, 409, 409, 409])
    assert.equal((await read(robot.id)).revision, 4)
  })

  it('does not exist for who may not see it', async () => {
    const robot = await createServiceAccount(service, [binding('releases', 'repository.read')])
    const key = await activeKey(service, robot.id, { bindings: robot.bindings })
    for (const credential of [owner.token, administrator, service.healthKey, key.secret]) {
      assert.deepEqual((await expectAnswer(service, { path, credential }, 200)).json, { items: [], next: null })
      for (const id of [robot.id, nobody, 'nothing', '%00']) {
        for (const leaf of ['', '/policy', '/keys', '/audit'])
          await expectAnswer(service, { path: `${path}/${id}${leaf}`, credential }, 404, 'not_found')
      }
    }
    for (const id of [nobody, 'nothing', '%00'])
      for (const leaf of ['', '/policy', '/keys', '/audit'])
        await expectAnswer(service, { path: `${path}/${id}${leaf}`, credential: service.recoveryKey }, 404, 'not_found')
  })

  it('is listed 50 a page, ordered by id', async () => {
    const made = new Set<string>()
    for (let i = 0; i < 105; i++) made.add((await createServiceAccount(service, [])).id)
    const ids: string[] = []
    const sizes: number[] = []
    for (let after: string | null = nobody; after !== null; ) {
      const page = await expectAnswer(service, { path: `${path}?after=${after}`, credential: service.recoveryKey }, 200)
      ids.push(...page.json.items.map((item: { id: string }) => item.id))
      sizes.push(page.json.items.length)
      after = page.json.next
    }
    assert.ok(sizes.slice(0, -1).every((size) => size === 50))
    assert.deepEqual(ids, [...ids].sort())
    assert.equal(new Set(ids).size, ids.length)
    assert.ok([...made].every((id) => ids.includes(id)))
    const end = await expectAnswer(
      service,
      { path: `${path}?after=${ids.at(-1)}`, credential: service.recoveryKey },
      200,
    )
    assert.deepEqual(end.json, { items: [], next: null })
    await expectAnswer(service, { path: `${path}?after=x`, credential: service.recoveryKey }, 400, 'invalid_request')
  })

  it('is created once when two ask for one name at the same moment', async () => {
    const before = await counter(0)
    for (let round = 0; round < 5; round++) {
      const name = freshName('twice')
      const asked = [name, name.toUpperCase(), name].map((each) => service.ask(creation({ name: each, bindings: [] })))
      const told = await Promise.all(asked)
      assert.deepEqual(told.map(({ status }) => status).sort(), [201, 409, 409])
      for (const { status, json } of told) if (status === 409) assert.equal(json.code, 'already_exists')
    }
    assert.equal(await counter(0), before + 5)
    assert.equal(await rows(), before + 5)
  })

  it('exists at most 1,000 times', async () => {
    const there = await counter(0)
    const away = 999 - there
    await counter(away)
    try {
      const told = await Promise.all(
        Array.from({ length: 5 }, () => service.ask(creation({ name: freshName('last'), bindings: [] }))),
      )
      assert.deepEqual(told.map(({ status }) => status).sort(), [201, 507, 507, 507, 507])
      for (const { status, json } of told) if (status === 507) assert.equal(json.code, 'service_account_limit')
      await expectAnswer(service, creation({ name: freshName('no'), bindings: [] }), 507, 'service_account_limit')
    } finally {
      await counter(-away)
    }
    assert.equal(await counter(0), await rows())
  })
})
