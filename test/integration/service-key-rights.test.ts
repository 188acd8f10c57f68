import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, it } from 'node:test'
import { requiredActions } from '../../src/contract/operation.ts'
import { repositoryActions } from '../../src/kernel/actions.ts'
import { minute } from '../../src/kernel/units.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { type Ask, closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { assertAnswer, expectAnswer } from '../harness/expect.ts'
import { isEnough, letThrough, probeOf } from '../harness/probe.ts'
import { me, robots } from '../harness/robots.ts'
import { startService } from '../harness/service.ts'
import {
  activation,
  activeKey,
  binding,
  createServiceAccount,
  issueKey,
  revocation,
  rotateKey,
  rotateRequest,
} from '../harness/service-keys.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = robots(engine)
  const { bindings, wish, robot, iso, works, fails, enable, setPolicy, revoke } = site

  it('is blocked while its account is disabled, from the next request, and back when it is enabled', async () => {
    const account = await robot()
    const key = await activeKey(site.service, account.id, wish)
    const pending = await issueKey(site.service, account.id, wish)
    const revoked = await activeKey(site.service, account.id, wish)
    const expiring = await activeKey(site.service, account.id, { ...wish, expiresAt: iso(minute) })
    await revoke(revoked.id)
    await enable(account.id, false)
    await fails(key.secret)
    await fails(expiring.secret)
    await expectAnswer(site.service, activation(pending.secret), 401, 'credential_invalid')
    site.service.clock.advance(minute + 1_000)
    await fails(expiring.secret)
    await enable(account.id, true)
    await works(key.secret)
    await expectAnswer(site.service, activation(pending.secret), 204)
    await fails(revoked.secret)
    await fails(expiring.secret, 'token_expired')
  })

  it('stops at the next request everywhere once it is revoked', async () => {
    const beside = await startService(engine, { on: site.service })
    try {
      const account = await robot()
      const key = await activeKey(site.service, account.id, wish)
      const there = { path: me, credential: key.secret }
      await expectAnswer(beside, there, 200)
      assert.equal((await revoke(key.id)).json.state, 'revoked')
      await expectAnswer(beside, there, 401, 'credential_invalid')
      await fails(key.secret)
      await expectAnswer(site.service, activation(key.secret), 401, 'credential_invalid')
      assert.equal((await revoke(key.id)).json.state, 'revoked')
      const pending = await issueKey(site.service, account.id, wish)
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
    const account = await createServiceAccount(site.service, whole)
    const held = async (secret: string) =>
      (await expectAnswer(site.service, { path: '/api/v1/auth/permissions', credential: secret }, 200)).json
        .repositories
    const odd = repositoryActions.filter((_, i) => i % 2 === 1)
    const third = repositoryActions.filter((_, i) => i % 3 === 0)
    const key = await activeKey(site.service, account.id, {
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
    const account = await createServiceAccount(site.service, [binding('releases', ...repositoryActions)])
    const { secret } = await activeKey(site.service, account.id, { bindings: account.bindings })
    const operations = catalogue().filter(({ access }) => access.kind === 'repository')
    assert.ok(operations.length > 10)
    const check = async (held: readonly (typeof repositoryActions)[number][]): Promise<void> => {
      await setPolicy(account.id, held.length === 0 ? [] : [binding('releases', ...held)])
      for (const operation of operations) {
        const request = { ...probeOf(operation, { repository: 'releases' }), credential: secret }
        const told = await site.service.ask(request)
        const may = isEnough(operation, new Set(held))
        assert.equal(letThrough(request, told), may, `${operation.id} with ${held.join()}: ${told.text}`)
        if (!may)
          assert.equal(
            told.status,
            held.length === 0 || requiredActions(operation.access).includes('repository.read') ? 404 : 403,
          )
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
    const account = await createServiceAccount(site.service, [
      binding('releases', 'artifact.list'),
      binding('second', 'repository.read'),
    ])
    const { secret } = await activeKey(site.service, account.id, { bindings: account.bindings })
    const get = (path: string): Ask => ({ path, credential: secret })
    await expectAnswer(site.service, get('/api/v1/repositories/releases'), 404, 'not_found')
    const listed = await expectAnswer(site.service, get('/api/v1/repositories'), 200)
    assert.deepEqual(listed.json.items, [
      { id: 'second', formats: ['upack', 'assets'], permissions: ['repository.read'], filled: null, counts: [] },
    ])
    await expectAnswer(site.service, get('/api/v1/repositories/releases/artifacts'), 200)
    await expectAnswer(site.service, get('/api/v1/operations?repository=releases'), 404, 'not_found')
    await expectAnswer(site.service, get('/api/v1/repositories/second/artifacts'), 403, 'permission_missing')
    await expectAnswer(site.service, get('/api/v1/repositories/third/artifacts'), 404, 'not_found')
  })

  it('starts what its account owns: other keys of the account go on with it, nobody else does', async () => {
    const actions = ['upload.create', 'upload.read', 'upload.write', 'upload.complete', 'upload.cancel'] as const
    const account = await createServiceAccount(site.service, [binding('releases', ...actions)])
    const starter = await activeKey(site.service, account.id, { bindings: account.bindings })
    const finisher = await rotateKey(site.service, starter.id, { bindings: account.bindings })
    await expectAnswer(site.service, activation(finisher.secret), 204)
    const strangers = await createServiceAccount(site.service, [binding('releases', ...actions)])
    const stranger = await activeKey(site.service, strangers.id, { bindings: strangers.bindings })
    const path = '/api/v1/repositories/releases/uploads'
    const sha256 = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'
    const headers = { 'idempotency-key': 'of-the-account' }
    const opening = { path, headers, credential: starter.secret, json: { name: 'hello', size: '5', sha256 } }
    const { id } = (await expectAnswer(site.service, opening, 201)).json
    assert.equal((await expectAnswer(site.service, { ...opening, credential: finisher.secret }, 200)).json.id, id)
    const one = `${path}/${id}`
    await expectAnswer(site.service, { path: one, credential: stranger.secret }, 404, 'not_found')
    await expectAnswer(site.service, { path: one, credential: site.service.recoveryKey }, 404, 'not_found')
    const put = {
      method: 'PUT',
      path: `${one}/content`,
      body: 'hello',
      headers: { 'content-type': 'application/octet-stream' },
    }
    await expectAnswer(site.service, { ...put, credential: stranger.secret }, 404, 'not_found')
    await revoke(starter.id)
    await expectAnswer(site.service, { path: one, credential: finisher.secret }, 200)
    const done = await expectAnswer(site.service, { ...put, credential: finisher.secret }, 200)
    assert.equal(done.json.status, 'available')
  })

  it('is listed 50 a page and leaves its whole history', async () => {
    const account = await robot()
    const first = await activeKey(site.service, account.id, wish)
    const next = await rotateKey(site.service, first.id, wish)
    await expectAnswer(site.service, activation(next.secret), 204)
    await revoke(first.id)
    await revoke(first.id)
    await enable(account.id, false)
    await enable(account.id, true)
    await setPolicy(account.id, bindings)
    const credential = site.service.recoveryKey
    const audit = async (after: string) =>
      (
        await expectAnswer(
          site.service,
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
      const { id } = await issueKey(site.service, account.id, wish)
      ids.push(id)
      await revoke(id)
    }
    const path = `/api/v1/service-accounts/${account.id}/keys`
    const one = (await expectAnswer(site.service, { path, credential }, 200)).json
    assert.deepEqual(
      one.items.map((item: { id: string }) => item.id),
      ids.slice(0, 50),
    )
    const two = (await expectAnswer(site.service, { path: `${path}?after=${one.next}`, credential }, 200)).json
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
    const key = await activeKey(site.service, account.id, wish)
    for (const id of [key.id, randomUUID(), 'nothing', '%00']) {
      const credential = key.secret
      await expectAnswer(site.service, { path: `/api/v1/api-keys/${id}`, credential }, 404, 'not_found')
      await expectAnswer(site.service, revocation(id, credential), 404, 'not_found')
      assertAnswer(
        { path: id },
        await site.service.ask({ ...rotateRequest(site.service, id, wish), credential }),
        404,
        'not_found',
      )
      if (id === key.id) continue
      await expectAnswer(
        site.service,
        { path: `/api/v1/api-keys/${id}`, credential: site.service.recoveryKey },
        404,
        'not_found',
      )
      await expectAnswer(site.service, revocation(id, site.service.recoveryKey), 404, 'not_found')
    }
    await works(key.secret)
  })
})
