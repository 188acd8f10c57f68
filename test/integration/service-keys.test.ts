import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, it } from 'node:test'
import { repositoryActions } from '../../src/kernel/actions.ts'
import { day, hour, minute } from '../../src/kernel/units.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { type Ask, closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { assertAnswer, expectAnswer } from '../harness/expect.ts'
import { createRepository } from '../harness/people.ts'
import { letThrough, probeOf } from '../harness/probe.ts'
import { startService, type TestService } from '../harness/service.ts'
import {
  activation,
  activeKey,
  binding,
  createServiceAccount,
  issueKey,
  issueRequest,
  readKey,
  revocation,
  rotateKey,
  rotateRequest,
  type TestKey,
  type TestServiceAccount,
} from '../harness/service-keys.ts'

after(closeConnections)

const me = '/api/v1/auth/me'

forEachEngine((engine) => {
  let service: TestService
  before(async () => {
    service = await startService(engine)
    await createRepository(service, 'second')
  })
  after(() => service.stop())

  const bindings = [binding('releases', 'repository.read', 'artifact.list')]
  const wish = { bindings }
  const robot = () => createServiceAccount(service, bindings)
  const iso = (fromNowMs: number): string => new Date(service.clock.now() + fromNowMs).toISOString()
  const near = (text: string, ms: number): void => {
    const off = Math.abs(Date.parse(text) - service.clock.now() - ms)
    assert.ok(off < 30_000, `${text} is off by ${off} ms`)
  }
  const works = (credential: string) => expectAnswer(service, { path: me, credential }, 200)
  const fails = (credential: string, code = 'credential_invalid') =>
    expectAnswer(service, { path: me, credential }, 401, code)
  const enable = async (id: string, enabled: boolean): Promise<void> => {
    const path = `/api/v1/service-accounts/${id}`
    const credential = service.recoveryKey
    const { revision } = (await expectAnswer(service, { path, credential }, 200)).json
    await expectAnswer(
      service,
      { method: 'PATCH', path, credential, json: { expectedRevision: revision, enabled } },
      200,
    )
  }
  const setPolicy = async (id: string, next: TestServiceAccount['bindings']): Promise<void> => {
    const path = `/api/v1/service-accounts/${id}`
    const credential = service.recoveryKey
    const { revision } = (await expectAnswer(service, { path, credential }, 200)).json
    const json = { expectedRevision: revision, bindings: next }
    await expectAnswer(service, { method: 'PUT', path: `${path}/policy`, credential, json }, 200)
  }
  const revoke = (id: string) => expectAnswer(service, revocation(id, service.recoveryKey), 200)

  it('is issued pending, with its secret in that one answer', async () => {
    const account = await robot()
    const told = await expectAnswer(service, issueRequest(service, account.id, { ...wish, name: 'deploy.1' }), 201)
    const { secret, ...key } = told.json
    assert.match(secret, /^svc_[0-9a-f-]{36}\.[A-Za-z0-9_-]{43}$/)
    assert.ok(secret.startsWith(`svc_${key.id}.`))
    const { id, createdAt, expiresAt, activationExpiresAt, ...rest } = key
    assert.deepEqual(rest, { accountId: account.id, name: 'deploy.1', state: 'pending', bindings, rotatedFrom: null })
    near(createdAt, 0)
    assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), 90 * day)
    assert.equal(Date.parse(activationExpiresAt) - Date.parse(createdAt), 15 * minute)
    assert.deepEqual(await readKey(service, id), key)
    const path = `/api/v1/service-accounts/${account.id}/keys`
    const listed = await expectAnswer(service, { path, credential: service.recoveryKey }, 200)
    assert.deepEqual(listed.json, { items: [key], next: null })
  })

  it('has a name, bindings and an end that make sense', async () => {
    const account = await robot()
    const end = iso(364.9 * day)
    assert.equal((await issueKey(service, account.id, { ...wish, expiresAt: end })).expiresAt, end)
    const request = issueRequest(service, account.id, wish)
    for (const json of [
      { name: 'ab', bindings },
      { name: 'x'.repeat(65), bindings },
      { name: 'with space', bindings },
      { name: 'deploy' },
      { name: 'deploy', bindings: [{ resource: { kind: 'repository', id: 'releases' }, actions: ['content.fly'] }] },
      { name: 'deploy', bindings: Array.from({ length: 65 }, () => bindings[0]) },
      ...[iso(-1), iso(365.1 * day), 'soon', null, 7, iso(day).replace('Z', '+25:00')].map((expiresAt) => ({
        name: 'deploy',
        bindings,
        expiresAt,
      })),
      {
        name: 'deploy',
        bindings,
        expiresAt: `${new Date(service.clock.now() + 200 * day).getUTCFullYear()}-02-30T00:00:00Z`,
      },
      { name: 'deploy', bindings, state: 'active' },
    ])
      await expectAnswer(service, { ...request, json }, 400, 'invalid_request')
    for (const key of ['', 'x'.repeat(129), 'with space', 'ümlaut'])
      await expectAnswer(
        service,
        { ...request, headers: { 'idempotency-key': encodeURI(key) } },
        400,
        'invalid_request',
      )
    await expectAnswer(service, { ...request, headers: {} }, 400, 'invalid_request')
  })

  it('may go no further than the policy of its account', async () => {
    const account = await robot()
    for (const more of [
      [binding('releases', 'repository.read', 'content.read')],
      [binding('second', 'repository.read')],
      [...bindings, binding('second', 'artifact.list')],
    ])
      await expectAnswer(service, issueRequest(service, account.id, { bindings: more }), 409, 'policy_exceeded')
    await issueKey(service, account.id, { bindings: [] })
    await issueKey(service, account.id, { bindings: [binding('releases', 'artifact.list')] })
  })

  it('may only be activated before it is active, which is harmless to repeat', async () => {
    const account = await robot()
    const { id, secret } = await issueKey(service, account.id, wish)
    for (const operation of catalogue()) {
      if (operation.access.kind === 'anyone' || operation.id === 'activateServiceKey') continue
      const request = { ...probeOf(operation, { repository: 'releases', id: account.id }), credential: secret }
      await expectAnswer(service, request, 401, 'credential_invalid')
    }
    assert.equal((await readKey(service, id)).state, 'pending')
    await fails(`${secret.slice(0, -4)}AAAA`)
    await expectAnswer(service, activation(`${secret.slice(0, -4)}AAAA`), 401, 'credential_invalid')
    await expectAnswer(service, activation(secret), 204)
    await works(secret)
    assert.equal((await readKey(service, id)).state, 'active')
    await expectAnswer(service, activation(secret), 204)
    await works(secret)
    await expectAnswer(service, activation(service.recoveryKey), 403, 'permission_missing')
  })

  it('is activated within 15 minutes or never', async () => {
    const account = await robot()
    const early = await issueKey(service, account.id, wish)
    const late = await issueKey(service, account.id, wish)
    service.clock.advance(14 * minute + 50_000)
    await expectAnswer(service, activation(early.secret), 204)
    service.clock.advance(11_000)
    await expectAnswer(service, activation(late.secret), 401, 'token_expired')
    await expectAnswer(service, activation(`${late.secret.slice(0, -4)}AAAA`), 401, 'credential_invalid')
    assert.equal((await readKey(service, late.id)).state, 'pending', 'expiry changes no state')
    await works(early.secret)
    await issueKey(service, account.id, wish)
    await issueKey(service, account.id, wish)
  })

  it('ends when it was said to, after 90 days if nothing was', async () => {
    const account = await robot()
    const short = await activeKey(service, account.id, { ...wish, expiresAt: iso(day) })
    const plain = await activeKey(service, account.id, wish)
    service.clock.advance(day - 10_000)
    await works(short.secret)
    service.clock.advance(11_000)
    const told = await fails(short.secret, 'token_expired')
    assert.match(String(told.headers['www-authenticate']), /error="token_expired"/)
    await fails(`${short.secret.slice(0, -4)}AAAA`)
    assert.equal((await readKey(service, short.id)).state, 'active', 'expiry changes no state')
    service.clock.advance(89 * day - 30_000)
    await works(plain.secret)
    service.clock.advance(40_000)
    await fails(plain.secret, 'token_expired')
    await expectAnswer(service, rotateRequest(service, plain.id, wish), 409, 'key_state')
    await revoke(plain.id)
    await fails(plain.secret)
  })

  it('waits for activation at most twice at once in an account, however it was asked for', async () => {
    const account = await robot()
    const old = await activeKey(service, account.id, wish)
    const asked = Array.from({ length: 3 }, () => [
      service.ask(issueRequest(service, account.id, wish)),
      service.ask(rotateRequest(service, old.id, wish)),
    ]).flat()
    const told = await Promise.all(asked)
    assert.deepEqual(told.map(({ status }) => status).sort(), [201, 201, 507, 507, 507, 507])
    for (const { status, json } of told) if (status === 507) assert.equal(json.code, 'key_limit')
    const [first, second] = told.filter(({ status }) => status === 201).map(({ json }) => json)
    await expectAnswer(service, activation(first.secret), 204)
    await issueKey(service, account.id, wish)
    await expectAnswer(service, issueRequest(service, account.id, wish), 507, 'key_limit')
    await revoke(second.id)
    await issueKey(service, account.id, wish)
    await expectAnswer(service, issueRequest(service, (await robot()).id, wish), 201)
  })

  it('is active at most three times in an account, also when two are activated at once', async () => {
    const account = await robot()
    const first = await activeKey(service, account.id, { ...wish, expiresAt: iso(hour) })
    await activeKey(service, account.id, wish)
    const rivals = [await issueKey(service, account.id, wish), await issueKey(service, account.id, wish)]
    const told = await Promise.all(rivals.map(({ secret }) => service.ask(activation(secret))))
    assert.deepEqual(told.map(({ status }) => status).sort(), [204, 507])
    const loser = told.findIndex(({ status }) => status === 507)
    assert.equal(told[loser]?.json.code, 'key_limit')
    const { id, secret } = rivals[loser] ?? { id: '', secret: '' }
    await fails(secret)
    assert.equal((await readKey(service, id)).state, 'pending')
    await revoke(first.id)
    await expectAnswer(service, activation(secret), 204)
    const fourth = await issueKey(service, account.id, wish)
    await expectAnswer(service, activation(fourth.secret), 507, 'key_limit')
  })

  it('makes room when it expires', async () => {
    const account = await robot()
    for (let i = 0; i < 3; i++) await activeKey(service, account.id, { ...wish, expiresAt: iso(10 * minute) })
    const fourth = await issueKey(service, account.id, wish)
    await expectAnswer(service, activation(fourth.secret), 507, 'key_limit')
    service.clock.advance(10 * minute)
    await expectAnswer(service, activation(fourth.secret), 204)
  })

  it('hands over to its successor, and ends 24 hours after that at the latest', async () => {
    const account = await robot()
    const old = await activeKey(service, account.id, wish)
    await activeKey(service, account.id, wish)
    await activeKey(service, account.id, wish)
    const next = await rotateKey(service, old.id, { bindings: [binding('releases', 'artifact.list')] })
    assert.equal((await readKey(service, next.id)).rotatedFrom, old.id)
    assert.equal((await readKey(service, old.id)).expiresAt, old.expiresAt, 'nothing ends before the activation')
    await expectAnswer(service, activation(next.secret), 204)
    near((await readKey(service, old.id)).expiresAt, day)
    await works(old.secret)
    await works(next.secret)
    await expectAnswer(service, activation(next.secret), 204)
    service.clock.advance(hour)
    await expectAnswer(service, activation(next.secret), 204)
    near((await readKey(service, old.id)).expiresAt, 23 * hour)
    service.clock.advance(23 * hour - minute)
    await works(old.secret)
    service.clock.advance(minute + 1_000)
    await fails(old.secret, 'token_expired')
    await works(next.secret)
  })

  it('never lives longer because it was rotated', async () => {
    const account = await robot()
    const old = await activeKey(service, account.id, { ...wish, expiresAt: iso(hour) })
    const next = await rotateKey(service, old.id, wish)
    await expectAnswer(service, activation(next.secret), 204)
    assert.equal((await readKey(service, old.id)).expiresAt, old.expiresAt)
    const third = await rotateKey(service, next.id, wish)
    const other = await rotateKey(service, next.id, wish)
    await expectAnswer(service, activation(third.secret), 204)
    const cut = (await readKey(service, next.id)).expiresAt
    service.clock.advance(10 * minute)
    await expectAnswer(service, activation(other.secret), 204)
    assert.equal((await readKey(service, next.id)).expiresAt, cut)
  })

  it('is not shortened by a successor that is never activated', async () => {
    const account = await robot()
    const old = await activeKey(service, account.id, wish)
    const next = await rotateKey(service, old.id, wish)
    service.clock.advance(15 * minute + 1_000)
    await expectAnswer(service, activation(next.secret), 401, 'token_expired')
    assert.equal((await readKey(service, old.id)).expiresAt, old.expiresAt)
  })

  it('is rotated only while it is active, and only into what it could do itself', async () => {
    const account = await createServiceAccount(service, [...bindings, binding('second', 'content.read')])
    const pending = await issueKey(service, account.id, wish)
    await expectAnswer(service, rotateRequest(service, pending.id, wish), 409, 'key_state')
    await expectAnswer(service, activation(pending.secret), 204)
    const wider = { bindings: account.bindings }
    await expectAnswer(service, rotateRequest(service, pending.id, wider), 409, 'policy_exceeded')
    await revoke(pending.id)
    await expectAnswer(service, rotateRequest(service, pending.id, wish), 409, 'key_state')
    await expectAnswer(service, rotateRequest(service, randomUUID(), wish), 404, 'not_found')
  })

  it('works beside what replaced it one at a time, so that rotating in circles makes no crowd of keys', async () => {
    const account = await createServiceAccount(service, wish.bindings)
    const works = async (key: TestKey): Promise<boolean> =>
      (await service.ask({ path: '/api/v1/auth/me', credential: key.secret })).status === 200
    const next = async (key: TestKey): Promise<TestKey> => {
      const made = await rotateKey(service, key.id, wish)
      await expectAnswer(service, activation(made.secret), 204)
      return made
    }
    const first = await activeKey(service, account.id, wish)
    const second = await next(first)
    await expectAnswer(service, rotateRequest(service, first.id, wish), 409, 'key_state')
    const third = await next(second)
    assert.deepEqual([await works(first), await works(second), await works(third)], [false, true, true])
    const all = [first, second, third]
    for (let round = 0; round < 6; round++) {
      const key = await activeKey(service, account.id, wish)
      const successor = await next(key)
      all.push(key, successor)
      await expectAnswer(service, revocation(successor.id, service.recoveryKey), 200)
    }
    const working = await Promise.all(all.map(works))
    assert.equal(working.filter(Boolean).length, 1 + 3)
  })

  it('is issued and rotated once for one Idempotency-Key', async () => {
    const account = await robot()
    const old = await activeKey(service, account.id, wish)
    for (const request of [issueRequest(service, account.id, wish), rotateRequest(service, old.id, wish)]) {
      const { secret, ...key } = (await expectAnswer(service, request, 201)).json
      const again = await expectAnswer(service, request, 200)
      assert.deepEqual(again.json, key)
      assert.ok(!again.text.includes(secret.slice(41)))
      const json = { name: 'deploy', bindings: [{ actions: bindings[0]?.actions, resource: bindings[0]?.resource }] }
      assert.deepEqual(
        (await expectAnswer(service, { ...request, json }, 200)).json,
        key,
        'the order of fields means nothing',
      )
      for (const json of [
        { name: 'another', bindings },
        { name: 'deploy', bindings: [] },
        { name: 'deploy', bindings, expiresAt: iso(day) },
      ])
        await expectAnswer(service, { ...request, json }, 409, 'idempotency_mismatch')
    }
    const there = issueRequest(service, account.id, { ...wish, idempotencyKey: 'only-once' })
    await revoke((await readKey(service, old.id)).id)
    const listed = { path: `/api/v1/service-accounts/${account.id}/keys`, credential: service.recoveryKey }
    for (const { id } of (await expectAnswer(service, listed, 200)).json.items) await revoke(id)
    const issued = await expectAnswer(service, there, 201)
    await revoke(issued.json.id)
    assert.equal((await expectAnswer(service, there, 200)).json.state, 'revoked')
    const elsewhere = issueRequest(service, (await robot()).id, { ...wish, idempotencyKey: 'only-once' })
    await expectAnswer(service, elsewhere, 409, 'idempotency_mismatch')
  })

  it('is issued once when equal requests race, and its secret goes to one of them', async () => {
    const account = await robot()
    const old = await activeKey(service, account.id, wish)
    for (const request of [issueRequest(service, account.id, wish), rotateRequest(service, old.id, wish)]) {
      const told = await Promise.all(Array.from({ length: 6 }, () => service.ask(request)))
      assert.deepEqual(told.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 201])
      assert.equal(new Set(told.map(({ json }) => json.id)).size, 1)
      assert.equal(told.filter(({ json }) => json.secret !== undefined).length, 1)
    }
  })

  it('is issued once when one Idempotency-Key is used for two accounts at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const accounts = [await robot(), await robot(), await robot()]
      const idempotencyKey = randomUUID()
      const told = await Promise.all(
        accounts.map(({ id }) => service.ask(issueRequest(service, id, { ...wish, idempotencyKey }))),
      )
      assert.deepEqual(told.map(({ status }) => status).sort(), [201, 409, 409])
      for (const { status, json } of told) if (status === 409) assert.equal(json.code, 'idempotency_mismatch')
    }
  })

  it('is blocked while its account is disabled, from the next request, and back when it is enabled', async () => {
    const account = await robot()
    const key = await activeKey(service, account.id, wish)
    const pending = await issueKey(service, account.id, wish)
    const revoked = await activeKey(service, account.id, wish)
    const expiring = await activeKey(service, account.id, { ...wish, expiresAt: iso(minute) })
    await revoke(revoked.id)
    await enable(account.id, false)
    await fails(key.secret)
    await fails(expiring.secret)
    await expectAnswer(service, activation(pending.secret), 401, 'credential_invalid')
    service.clock.advance(minute + 1_000)
    await fails(expiring.secret)
    await enable(account.id, true)
    await works(key.secret)
    await expectAnswer(service, activation(pending.secret), 204)
    await fails(revoked.secret)
    await fails(expiring.secret, 'token_expired')
  })

  it('stops at the next request everywhere once it is revoked', async () => {
    const beside = await startService(engine, { on: service })
    try {
      const account = await robot()
      const key = await activeKey(service, account.id, wish)
      const there = { path: me, credential: key.secret }
      await expectAnswer(beside, there, 200)
      assert.equal((await revoke(key.id)).json.state, 'revoked')
      await expectAnswer(beside, there, 401, 'credential_invalid')
      await fails(key.secret)
      await expectAnswer(service, activation(key.secret), 401, 'credential_invalid')
      assert.equal((await revoke(key.id)).json.state, 'revoked')
      const pending = await issueKey(service, account.id, wish)
      await revoke(pending.id)
      await expectAnswer(beside, activation(pending.secret), 401, 'credential_invalid')
      const narrow = await activeKey(beside, account.id, wish)
      await setPolicy(account.id, [])
      const card = { path: '/api/v1/repositories/releases', credential: narrow.secret }
      await expectAnswer(beside, card, 404, 'not_found')
    } finally {
      await beside.stop()
    }
  })

  it('may do what both its account and itself are bound to, per repository and action', async () => {
    const whole = [binding('releases', ...repositoryActions), binding('second', ...repositoryActions)]
    const account = await createServiceAccount(service, whole)
    const held = async (secret: string) =>
      (await expectAnswer(service, { path: '/api/v1/auth/permissions', credential: secret }, 200)).json.repositories
    const odd = repositoryActions.filter((_, i) => i % 2 === 1)
    const third = repositoryActions.filter((_, i) => i % 3 === 0)
    const key = await activeKey(service, account.id, {
      bindings: [binding('releases', ...odd), binding('second', ...third)],
    })
    assert.deepEqual(await held(key.secret), [
      { repository: 'releases', actions: odd },
      { repository: 'second', actions: third },
    ])
    await setPolicy(account.id, [binding('releases', ...third), binding('elsewhere', ...repositoryActions)])
    const both = odd.filter((action) => third.includes(action))
    assert.ok(both.length > 0)
    assert.deepEqual(await held(key.secret), [{ repository: 'releases', actions: both }])
    await setPolicy(account.id, whole)
    assert.equal((await held(key.secret)).length, 2)
  })

  it('passes exactly the operations whose actions it holds, for every action', async () => {
    const account = await createServiceAccount(service, [binding('releases', ...repositoryActions)])
    const { secret } = await activeKey(service, account.id, { bindings: account.bindings })
    const operations = catalogue().flatMap((operation) =>
      operation.access.kind === 'repository' ? [{ operation, needed: operation.access.actions }] : [],
    )
    assert.ok(operations.length > 10)
    const check = async (held: readonly (typeof repositoryActions)[number][]): Promise<void> => {
      await setPolicy(account.id, held.length === 0 ? [] : [binding('releases', ...held)])
      for (const { operation, needed } of operations) {
        const request = { ...probeOf(operation, { repository: 'releases' }), credential: secret }
        const told = await service.ask(request)
        const may = needed.every((action) => held.includes(action))
        assert.equal(letThrough(request, told), may, `${operation.id} with ${held.join()}: ${told.text}`)
        if (!may) assert.equal(told.status, held.length === 0 || needed.includes('repository.read') ? 404 : 403)
      }
    }
    await check([])
    await check(repositoryActions)
    for (const action of repositoryActions) {
      await check([action])
      await check(repositoryActions.filter((other) => other !== action))
    }
  })

  it('without repository.read sees neither card nor list entry, and the rest works', async () => {
    const account = await createServiceAccount(service, [
      binding('releases', 'artifact.list'),
      binding('second', 'repository.read'),
    ])
    const { secret } = await activeKey(service, account.id, { bindings: account.bindings })
    const get = (path: string): Ask => ({ path, credential: secret })
    await expectAnswer(service, get('/api/v1/repositories/releases'), 404, 'not_found')
    const listed = await expectAnswer(service, get('/api/v1/repositories'), 200)
    assert.deepEqual(listed.json.items, [
      { id: 'second', formats: ['upack', 'assets'], permissions: ['repository.read'] },
    ])
    await expectAnswer(service, get('/api/v1/repositories/releases/artifacts'), 200)
    await expectAnswer(service, get('/api/v1/operations?repository=releases'), 404, 'not_found')
    await expectAnswer(service, get('/api/v1/repositories/second/artifacts'), 403, 'permission_missing')
    await expectAnswer(service, get('/api/v1/repositories/third/artifacts'), 404, 'not_found')
  })

  it('starts what its account owns: other keys of the account go on with it, nobody else does', async () => {
    const actions = ['upload.create', 'upload.read', 'upload.write', 'upload.complete', 'upload.cancel'] as const
    const account = await createServiceAccount(service, [binding('releases', ...actions)])
    const starter = await activeKey(service, account.id, { bindings: account.bindings })
    const finisher = await rotateKey(service, starter.id, { bindings: account.bindings })
    await expectAnswer(service, activation(finisher.secret), 204)
    const strangers = await createServiceAccount(service, [binding('releases', ...actions)])
    const stranger = await activeKey(service, strangers.id, { bindings: strangers.bindings })
    const path = '/api/v1/repositories/releases/uploads'
    const sha256 = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'
    const headers = { 'idempotency-key': 'of-the-account' }
    const opening = { path, headers, credential: starter.secret, json: { name: 'hello', size: '5', sha256 } }
    const { id } = (await expectAnswer(service, opening, 201)).json
    assert.equal((await expectAnswer(service, { ...opening, credential: finisher.secret }, 200)).json.id, id)
    const one = `${path}/${id}`
    await expectAnswer(service, { path: one, credential: stranger.secret }, 404, 'not_found')
    await expectAnswer(service, { path: one, credential: service.recoveryKey }, 404, 'not_found')
    const put = {
      method: 'PUT',
      path: `${one}/content`,
      body: 'hello',
      headers: { 'content-type': 'application/octet-stream' },
    }
    await expectAnswer(service, { ...put, credential: stranger.secret }, 404, 'not_found')
    await revoke(starter.id)
    await expectAnswer(service, { path: one, credential: finisher.secret }, 200)
    const done = await expectAnswer(service, { ...put, credential: finisher.secret }, 200)
    assert.equal(done.json.status, 'available')
  })

  it('is listed 50 a page and leaves its whole history', async () => {
    const account = await robot()
    const first = await activeKey(service, account.id, wish)
    const next = await rotateKey(service, first.id, wish)
    await expectAnswer(service, activation(next.secret), 204)
    await revoke(first.id)
    await revoke(first.id)
    await enable(account.id, false)
    await enable(account.id, true)
    await setPolicy(account.id, bindings)
    const credential = service.recoveryKey
    const audit = async (after: string) =>
      (
        await expectAnswer(
          service,
          { path: `/api/v1/service-accounts/${account.id}/audit?after=${after}`, credential },
          200,
        )
      ).json
    const page = await audit('0')
    assert.equal(page.next, null)
    assert.deepEqual(
      page.items.map((item: { action: string }) => item.action),
      [
        'service-account.create',
        'key.issue',
        'key.activate',
        'key.rotate',
        'key.activate',
        'key.revoke',
        'service-account.disable',
        'service-account.enable',
        'policy.replace',
      ],
    )
    assert.deepEqual(
      new Set(page.items.map((item: { actor: string }) => item.actor)),
      new Set(['key:bootstrap-owner', `service-account:${account.id}`]),
    )
    assert.equal(page.items[3].subject, `service-account:${account.id} key:${next.id}`)
    assert.deepEqual((await audit(page.items[6].sequence)).items, page.items.slice(7))
    const ids = [first.id, next.id]
    for (let i = 0; i < 52; i++) {
      const { id } = await issueKey(service, account.id, wish)
      ids.push(id)
      await revoke(id)
    }
    const path = `/api/v1/service-accounts/${account.id}/keys`
    const one = (await expectAnswer(service, { path, credential }, 200)).json
    assert.deepEqual(
      one.items.map((item: { id: string }) => item.id),
      ids.slice(0, 50),
    )
    const two = (await expectAnswer(service, { path: `${path}?after=${one.next}`, credential }, 200)).json
    assert.deepEqual(
      two.items.map((item: { id: string }) => item.id),
      ids.slice(50),
    )
    assert.equal(two.next, null)
    const long = await audit('0')
    assert.equal(long.items.length, 100)
    assert.equal((await audit(long.next)).items.length, 9 + 104 - 100)
  })

  it('does not exist for a stranger, nor under a name that is none', async () => {
    const account = await robot()
    const key = await activeKey(service, account.id, wish)
    for (const id of [key.id, randomUUID(), 'nothing', '%00']) {
      const credential = key.secret
      await expectAnswer(service, { path: `/api/v1/api-keys/${id}`, credential }, 404, 'not_found')
      await expectAnswer(service, revocation(id, credential), 404, 'not_found')
      assertAnswer(
        { path: id },
        await service.ask({ ...rotateRequest(service, id, wish), credential }),
        404,
        'not_found',
      )
      if (id === key.id) continue
      await expectAnswer(service, { path: `/api/v1/api-keys/${id}`, credential: service.recoveryKey }, 404, 'not_found')
      await expectAnswer(service, revocation(id, service.recoveryKey), 404, 'not_found')
    }
    await works(key.secret)
  })
})
