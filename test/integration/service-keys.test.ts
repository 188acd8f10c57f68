import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, it } from 'node:test'
import { day, hour, minute } from '../../src/kernel/units.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { probeOf } from '../harness/probe.ts'
import { robots } from '../harness/robots.ts'
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
} from '../harness/service-keys.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = robots(engine)
  const { bindings, wish, robot, iso, near, works, fails, revoke } = site

  it('is issued pending, with its secret in that one answer', async () => {
    const account = await robot()
    const told = await expectAnswer(
      site.service,
      issueRequest(site.service, account.id, { ...wish, name: 'deploy.1' }),
      201,
    )
    const { secret, ...key } = told.json
    assert.match(secret, /^svc_[0-9a-f-]{36}\.[A-Za-z0-9_-]{43}$/)
    assert.ok(secret.startsWith(`svc_${key.id}.`))
    const { id, createdAt, expiresAt, activationExpiresAt, ...rest } = key
    assert.deepEqual(rest, { accountId: account.id, name: 'deploy.1', state: 'pending', bindings, rotatedFrom: null })
    near(createdAt, 0)
    assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), 90 * day)
    assert.equal(Date.parse(activationExpiresAt) - Date.parse(createdAt), 15 * minute)
    assert.deepEqual(await readKey(site.service, id), key)
    const path = `/api/v1/service-accounts/${account.id}/keys`
    const listed = await expectAnswer(site.service, { path, credential: site.service.recoveryKey }, 200)
    assert.deepEqual(listed.json, { items: [key], next: null })
  })

  it('has a name, bindings and an end that make sense', async () => {
    const account = await robot()
    const end = iso(364.9 * day)
    assert.equal((await issueKey(site.service, account.id, { ...wish, expiresAt: end })).expiresAt, end)
    const request = issueRequest(site.service, account.id, wish)
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
        expiresAt: `${new Date(site.service.clock.now() + 200 * day).getUTCFullYear()}-02-30T00:00:00Z`,
      },
      { name: 'deploy', bindings, state: 'active' },
    ])
      await expectAnswer(site.service, { ...request, json }, 400, 'invalid_request')
    for (const key of ['', 'x'.repeat(129), 'with space', 'ümlaut'])
      await expectAnswer(
        site.service,
        { ...request, headers: { 'idempotency-key': encodeURI(key) } },
        400,
        'invalid_request',
      )
    await expectAnswer(site.service, { ...request, headers: {} }, 400, 'invalid_request')
  })

  it('may go no further than the policy of its account', async () => {
    const account = await robot()
    for (const more of [
      [binding('releases', 'repository.read', 'content.read')],
      [binding('second', 'repository.read')],
      [...bindings, binding('second', 'artifact.list')],
    ])
      await expectAnswer(
        site.service,
        issueRequest(site.service, account.id, { bindings: more }),
        409,
        'policy_exceeded',
      )
    await issueKey(site.service, account.id, { bindings: [] })
    await issueKey(site.service, account.id, { bindings: [binding('releases', 'artifact.list')] })
  })

  it('may only be activated before it is active, which is harmless to repeat', async () => {
    const account = await robot()
    const { id, secret } = await issueKey(site.service, account.id, wish)
    for (const operation of catalogue()) {
      if (operation.access.kind === 'anyone' || operation.id === 'activateServiceKey') continue
      const request = { ...probeOf(operation, { repository: 'releases', id: account.id }), credential: secret }
      await expectAnswer(site.service, request, 401, 'credential_invalid')
    }
    assert.equal((await readKey(site.service, id)).state, 'pending')
    await fails(`${secret.slice(0, -4)}AAAA`)
    await expectAnswer(site.service, activation(`${secret.slice(0, -4)}AAAA`), 401, 'credential_invalid')
    await expectAnswer(site.service, activation(secret), 204)
    await works(secret)
    assert.equal((await readKey(site.service, id)).state, 'active')
    await expectAnswer(site.service, activation(secret), 204)
    await works(secret)
    await expectAnswer(site.service, activation(site.service.recoveryKey), 403, 'permission_missing')
  })

  it('is activated within 15 minutes or never', async () => {
    const account = await robot()
    const early = await issueKey(site.service, account.id, wish)
    const late = await issueKey(site.service, account.id, wish)
    site.service.clock.advance(14 * minute + 50_000)
    await expectAnswer(site.service, activation(early.secret), 204)
    site.service.clock.advance(11_000)
    await expectAnswer(site.service, activation(late.secret), 401, 'token_expired')
    await expectAnswer(site.service, activation(`${late.secret.slice(0, -4)}AAAA`), 401, 'credential_invalid')
    assert.equal((await readKey(site.service, late.id)).state, 'pending', 'expiry changes no state')
    await works(early.secret)
    await issueKey(site.service, account.id, wish)
    await issueKey(site.service, account.id, wish)
  })

  it('ends when it was said to, after 90 days if nothing was', async () => {
    const account = await robot()
    const short = await activeKey(site.service, account.id, { ...wish, expiresAt: iso(day) })
    const plain = await activeKey(site.service, account.id, wish)
    site.service.clock.advance(day - 10_000)
    await works(short.secret)
    site.service.clock.advance(11_000)
    const told = await fails(short.secret, 'token_expired')
    assert.match(String(told.headers['www-authenticate']), /error="token_expired"/)
    await fails(`${short.secret.slice(0, -4)}AAAA`)
    assert.equal((await readKey(site.service, short.id)).state, 'active', 'expiry changes no state')
    site.service.clock.advance(89 * day - 30_000)
    await works(plain.secret)
    site.service.clock.advance(40_000)
    await fails(plain.secret, 'token_expired')
    await expectAnswer(site.service, rotateRequest(site.service, plain.id, wish), 409, 'key_state')
    await revoke(plain.id)
    await fails(plain.secret)
  })

  it('waits for activation at most twice at once in an account, however it was asked for', async () => {
    const account = await robot()
    const old = await activeKey(site.service, account.id, wish)
    const asked = Array.from({ length: 3 }, () => [
      site.service.ask(issueRequest(site.service, account.id, wish)),
      site.service.ask(rotateRequest(site.service, old.id, wish)),
    ]).flat()
    const told = await Promise.all(asked)
    assert.deepEqual(told.map(({ status }) => status).sort(), [201, 201, 507, 507, 507, 507])
    for (const { status, json } of told) if (status === 507) assert.equal(json.code, 'key_limit')
    const [first, second] = told.filter(({ status }) => status === 201).map(({ json }) => json)
    await expectAnswer(site.service, activation(first.secret), 204)
    await issueKey(site.service, account.id, wish)
    await expectAnswer(site.service, issueRequest(site.service, account.id, wish), 507, 'key_limit')
    await revoke(second.id)
    await issueKey(site.service, account.id, wish)
    await expectAnswer(site.service, issueRequest(site.service, (await robot()).id, wish), 201)
  })

  it('is active at most three times in an account, also when two are activated at once', async () => {
    const account = await robot()
    const first = await activeKey(site.service, account.id, { ...wish, expiresAt: iso(hour) })
    await activeKey(site.service, account.id, wish)
    const rivals = [await issueKey(site.service, account.id, wish), await issueKey(site.service, account.id, wish)]
    const told = await Promise.all(rivals.map(({ secret }) => site.service.ask(activation(secret))))
    assert.deepEqual(told.map(({ status }) => status).sort(), [204, 507])
    const loser = told.findIndex(({ status }) => status === 507)
    assert.equal(told[loser]?.json.code, 'key_limit')
    const { id, secret } = rivals[loser] ?? { id: '', secret: '' }
    await fails(secret)
    assert.equal((await readKey(site.service, id)).state, 'pending')
    await revoke(first.id)
    await expectAnswer(site.service, activation(secret), 204)
    const fourth = await issueKey(site.service, account.id, wish)
    await expectAnswer(site.service, activation(fourth.secret), 507, 'key_limit')
  })

  it('makes room when it expires', async () => {
    const account = await robot()
    for (let i = 0; i < 3; i++) await activeKey(site.service, account.id, { ...wish, expiresAt: iso(10 * minute) })
    const fourth = await issueKey(site.service, account.id, wish)
    await expectAnswer(site.service, activation(fourth.secret), 507, 'key_limit')
    site.service.clock.advance(10 * minute)
    await expectAnswer(site.service, activation(fourth.secret), 204)
  })

  it('hands over to its successor, and ends 24 hours after that at the latest', async () => {
    const account = await robot()
    const old = await activeKey(site.service, account.id, wish)
    await activeKey(site.service, account.id, wish)
    await activeKey(site.service, account.id, wish)
    const next = await rotateKey(site.service, old.id, { bindings: [binding('releases', 'artifact.list')] })
    assert.equal((await readKey(site.service, next.id)).rotatedFrom, old.id)
    assert.equal((await readKey(site.service, old.id)).expiresAt, old.expiresAt, 'nothing ends before the activation')
    await expectAnswer(site.service, activation(next.secret), 204)
    near((await readKey(site.service, old.id)).expiresAt, day)
    await works(old.secret)
    await works(next.secret)
    await expectAnswer(site.service, activation(next.secret), 204)
    site.service.clock.advance(hour)
    await expectAnswer(site.service, activation(next.secret), 204)
    near((await readKey(site.service, old.id)).expiresAt, 23 * hour)
    site.service.clock.advance(23 * hour - minute)
    await works(old.secret)
    site.service.clock.advance(minute + 1_000)
    await fails(old.secret, 'token_expired')
    await works(next.secret)
  })

  it('never lives longer because it was rotated', async () => {
    const account = await robot()
    const old = await activeKey(site.service, account.id, { ...wish, expiresAt: iso(hour) })
    const next = await rotateKey(site.service, old.id, wish)
    await expectAnswer(site.service, activation(next.secret), 204)
    assert.equal((await readKey(site.service, old.id)).expiresAt, old.expiresAt)
    const third = await rotateKey(site.service, next.id, wish)
    const other = await rotateKey(site.service, next.id, wish)
    await expectAnswer(site.service, activation(third.secret), 204)
    const cut = (await readKey(site.service, next.id)).expiresAt
    site.service.clock.advance(10 * minute)
    await expectAnswer(site.service, activation(other.secret), 204)
    assert.equal((await readKey(site.service, next.id)).expiresAt, cut)
  })

  it('is not shortened by a successor that is never activated', async () => {
    const account = await robot()
    const old = await activeKey(site.service, account.id, wish)
    const next = await rotateKey(site.service, old.id, wish)
    site.service.clock.advance(15 * minute + 1_000)
    await expectAnswer(site.service, activation(next.secret), 401, 'token_expired')
    assert.equal((await readKey(site.service, old.id)).expiresAt, old.expiresAt)
  })

  it('is rotated only while it is active, and only into what it could do itself', async () => {
    const account = await createServiceAccount(site.service, [...bindings, binding('second', 'content.read')])
    const pending = await issueKey(site.service, account.id, wish)
    await expectAnswer(site.service, rotateRequest(site.service, pending.id, wish), 409, 'key_state')
    await expectAnswer(site.service, activation(pending.secret), 204)
    const wider = { bindings: account.bindings }
    await expectAnswer(site.service, rotateRequest(site.service, pending.id, wider), 409, 'policy_exceeded')
    await revoke(pending.id)
    await expectAnswer(site.service, rotateRequest(site.service, pending.id, wish), 409, 'key_state')
    await expectAnswer(site.service, rotateRequest(site.service, randomUUID(), wish), 404, 'not_found')
  })

  it('works beside what replaced it one at a time, so that rotating in circles makes no crowd of keys', async () => {
    const account = await createServiceAccount(site.service, wish.bindings)
    const works = async (key: TestKey): Promise<boolean> =>
      (await site.service.ask({ path: '/api/v1/auth/me', credential: key.secret })).status === 200
    const next = async (key: TestKey): Promise<TestKey> => {
      const made = await rotateKey(site.service, key.id, wish)
      await expectAnswer(site.service, activation(made.secret), 204)
      return made
    }
    const first = await activeKey(site.service, account.id, wish)
    const second = await next(first)
    await expectAnswer(site.service, rotateRequest(site.service, first.id, wish), 409, 'key_state')
    const third = await next(second)
    assert.deepEqual([await works(first), await works(second), await works(third)], [false, true, true])
    const all = [first, second, third]
    for (let round = 0; round < 6; round++) {
      const key = await activeKey(site.service, account.id, wish)
      const successor = await next(key)
      all.push(key, successor)
      await expectAnswer(site.service, revocation(successor.id, site.service.recoveryKey), 200)
    }
    const working = await Promise.all(all.map(works))
    assert.equal(working.filter(Boolean).length, 1 + 3)
  })

  it('is issued and rotated once for one Idempotency-Key', async () => {
    const account = await robot()
    const old = await activeKey(site.service, account.id, wish)
    for (const request of [issueRequest(site.service, account.id, wish), rotateRequest(site.service, old.id, wish)]) {
      const { secret, ...key } = (await expectAnswer(site.service, request, 201)).json
      const again = await expectAnswer(site.service, request, 200)
      assert.deepEqual(again.json, key)
      assert.ok(!again.text.includes(secret.slice(41)))
      const json = { name: 'deploy', bindings: [{ actions: bindings[0]?.actions, resource: bindings[0]?.resource }] }
      assert.deepEqual(
        (await expectAnswer(site.service, { ...request, json }, 200)).json,
        key,
        'the order of fields means nothing',
      )
      for (const json of [
        { name: 'another', bindings },
        { name: 'deploy', bindings: [] },
        { name: 'deploy', bindings, expiresAt: iso(day) },
      ])
        await expectAnswer(site.service, { ...request, json }, 409, 'idempotency_mismatch')
    }
    const there = issueRequest(site.service, account.id, { ...wish, idempotencyKey: 'only-once' })
    await revoke((await readKey(site.service, old.id)).id)
    const listed = { path: `/api/v1/service-accounts/${account.id}/keys`, credential: site.service.recoveryKey }
    for (const { id } of (await expectAnswer(site.service, listed, 200)).json.items) await revoke(id)
    const issued = await expectAnswer(site.service, there, 201)
    await revoke(issued.json.id)
    assert.equal((await expectAnswer(site.service, there, 200)).json.state, 'revoked')
    const elsewhere = issueRequest(site.service, (await robot()).id, { ...wish, idempotencyKey: 'only-once' })
    await expectAnswer(site.service, elsewhere, 409, 'idempotency_mismatch')
  })

  it('is issued once when equal requests race, and its secret goes to one of them', async () => {
    const account = await robot()
    const old = await activeKey(site.service, account.id, wish)
    for (const request of [issueRequest(site.service, account.id, wish), rotateRequest(site.service, old.id, wish)]) {
      const told = await Promise.all(Array.from({ length: 6 }, () => site.service.ask(request)))
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
        accounts.map(({ id }) => site.service.ask(issueRequest(site.service, id, { ...wish, idempotencyKey }))),
      )
      assert.deepEqual(told.map(({ status }) => status).sort(), [201, 409, 409])
      for (const { status, json } of told) if (status === 409) assert.equal(json.code, 'idempotency_mismatch')
    }
  })
})
