import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { type AdministrationAction, administrationActions } from '../../src/kernel/actions.ts'
import { day, minute } from '../../src/kernel/units.ts'
import { type Ask, closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import {
  accountRequest,
  activation,
  activeKey,
  binding,
  createServiceAccount,
  issueKey,
  issueRequest,
  policyRequest,
  readKey,
  revocation,
  rotateRequest,
  switchRequest,
  type TestBinding,
  type TestKey,
  type TestServiceAccount,
} from '../harness/service-keys.ts'

after(closeConnections)

const nobody = '00000000-0000-7000-8000-000000000000'
const small = [binding('releases', 'repository.read', 'content.read')]
const large = [
  binding('releases', 'repository.read', 'content.read', 'artifact.delete'),
  binding('other', 'asset.read'),
]

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  let operators: TestServiceAccount
  before(async () => {
    service = await startService(engine)
    owner = await createOwner(service)
    operators = await createServiceAccount(service, [binding('releases', 'repository.read')], 'operators')
  })
  after(() => service.stop())

  const iso = (fromNowMs: number): string => new Date(service.clock.now() + fromNowMs).toISOString()
  /** Every test has an operator of its own: an account has three active keys at most. */
  const newOperator = async (expiresAt?: string): Promise<TestKey> => {
    const account = await createServiceAccount(service, operators.bindings)
    const bindings = account.bindings
    return activeKey(service, account.id, expiresAt === undefined ? { bindings } : { bindings, expiresAt })
  }
  const delegation = (operator: string, target: string): Pick<Ask, 'path'> => ({
    path: `/api/v1/api-keys/${operator}/delegations/${target}`,
  })
  const delegate = async (
    operator: TestKey,
    target: string,
    actions: readonly AdministrationAction[] = administrationActions,
    ceiling: readonly TestBinding[] = small,
  ) => {
    const json = { actions, ceiling }
    const request = { ...delegation(operator.id, target), method: 'PUT', credential: service.recoveryKey, json }
    return (await expectAnswer(service, request, 200)).json
  }
  const endDelegation = (operator: TestKey, target: string) =>
    expectAnswer(
      service,
      { ...delegation(operator.id, target), method: 'DELETE', credential: service.recoveryKey },
      204,
    )
  const listed = async (credential: string): Promise<string[]> =>
    (await expectAnswer(service, { path: '/api/v1/service-accounts', credential }, 200)).json.items.map(
      (item: { id: string }) => item.id,
    )
  /** A request for each administration action, on an account and one of its keys. */
  const everything = (target: TestServiceAccount, keyId: string, credential: string) => {
    const request = { bindings: [], credential }
    return [
      ['service-account.read', accountRequest(target.id, credential)],
      ['policy.read', { path: `/api/v1/service-accounts/${target.id}/policy`, credential }],
      ['credential.read', { path: `/api/v1/service-accounts/${target.id}/keys`, credential }],
      ['credential.read', { path: `/api/v1/api-keys/${keyId}`, credential }],
      ['service-audit.read', { path: `/api/v1/service-accounts/${target.id}/audit`, credential }],
      ['service-account.manage', switchRequest(target.id, credential, target.revision + 7, true)],
      ['policy.manage', policyRequest(target.id, credential, target.revision + 7, [])],
      ['credential.manage', issueRequest(service, target.id, request)],
      ['credential.manage', rotateRequest(service, keyId, request)],
      ['credential.manage', revocation(keyId, credential)],
    ] as const
  }

  it('is set, replaced, listed and ended by the recovery key alone', async () => {
    const operator = await newOperator()
    const [one, two] = [await createServiceAccount(service, small), await createServiceAccount(service, small)]
    const set = { accountId: one.id, actions: ['policy.read', 'service-account.read'], ceiling: small }
    assert.deepEqual(await delegate(operator, one.id, ['policy.read', 'service-account.read']), set)
    await delegate(operator, two.id, ['credential.read'], large)
    const list = { path: `/api/v1/api-keys/${operator.id}/delegations`, credential: service.recoveryKey }
    const second = { accountId: two.id, actions: ['credential.read'], ceiling: large }
    const named = (...each: { accountId: string }[]) => {
      const nameOf = (id: string): string => (id === one.id ? one.name : two.name)
      return { items: each.map((delegated) => ({ ...delegated, accountName: nameOf(delegated.accountId) })) }
    }
    assert.deepEqual((await expectAnswer(service, list, 200)).json, named(set, second))
    const replaced = await delegate(operator, one.id, ['service-audit.read'], [])
    assert.deepEqual((await expectAnswer(service, list, 200)).json, named(replaced, second))
    const told = await expectAnswer(service, { path: '/api/v1/auth/permissions', credential: operator.secret }, 200)
    assert.deepEqual(told.json.administration, [replaced, second])
    const json = { actions: ['policy.read'], ceiling: [] }
    for (const credential of [owner.token, service.healthKey, operator.secret]) {
      await expectAnswer(service, { ...list, credential }, 403, 'permission_missing')
      const there = { ...delegation(operator.id, one.id), credential }
      await expectAnswer(service, { ...there, method: 'PUT', json }, 403, 'permission_missing')
      await expectAnswer(service, { ...there, method: 'DELETE' }, 403, 'permission_missing')
    }
    await endDelegation(operator, two.id)
    await endDelegation(operator, two.id)
    assert.deepEqual((await expectAnswer(service, list, 200)).json, named(replaced))
    const credential = service.recoveryKey
    for (const [key, target] of [
      [nobody, one.id],
      [operator.id, nobody],
    ] as const)
      await expectAnswer(service, { ...delegation(key, target), method: 'PUT', credential, json }, 404, 'not_found')
    await expectAnswer(service, { ...delegation(nobody, one.id), method: 'DELETE', credential }, 404, 'not_found')
    for (const wrong of [
      { actions: [], ceiling: [] },
      { actions: ['policy.read', 'policy.read'], ceiling: [] },
      { actions: ['content.read'], ceiling: [] },
      { actions: ['policy.read'], ceiling: [{ resource: { kind: 'repository', id: 'a' }, actions: ['policy.read'] }] },
      { actions: ['policy.read'] },
      { ceiling: [] },
    ])
      await expectAnswer(
        service,
        { ...delegation(operator.id, one.id), method: 'PUT', credential, json: wrong },
        400,
        'invalid_request',
      )
  })

  it('is never over one’s own account', async () => {
    const operator = await newOperator()
    const json = { actions: administrationActions, ceiling: large }
    const request = {
      ...delegation(operator.id, operator.accountId),
      method: 'PUT',
      credential: service.recoveryKey,
      json,
    }
    await expectAnswer(service, request, 403, 'ceiling_exceeded')
    const own: TestServiceAccount = { ...operators, id: operator.accountId }
    for (const [, asked] of everything(own, operator.id, operator.secret))
      await expectAnswer(service, asked, 404, 'not_found')
    assert.deepEqual(await listed(operator.secret), [])
  })

  it('opens what it names: outside of it there is nothing, and inside a missing action is refused', async () => {
    const operator = await newOperator()
    const target = await createServiceAccount(service, small)
    const key = await activeKey(service, target.id, { bindings: small })
    const outside = await createServiceAccount(service, small)
    const outsideKey = await activeKey(service, outside.id, { bindings: small })
    for (const [, asked] of everything(target, key.id, operator.secret))
      await expectAnswer(service, asked, 404, 'not_found')
    for (const action of administrationActions) {
      await delegate(operator, target.id, [action])
      for (const [needed, asked] of everything(target, key.id, operator.secret)) {
        if (asked.path.endsWith('/revoke') && needed === action) continue
        const told = await service.ask(asked)
        if (needed === action) assert.ok(told.status < 300 || told.status === 409, `${asked.path}: ${told.text}`)
        else assert.deepEqual([told.status, told.json.code], [403, 'permission_missing'], asked.path)
      }
      for (const [, asked] of everything(outside, outsideKey.id, operator.secret))
        await expectAnswer(service, asked, 404, 'not_found')
      assert.deepEqual(await listed(operator.secret), action === 'service-account.read' ? [target.id] : [])
    }
    const create = {
      path: '/api/v1/service-accounts',
      credential: operator.secret,
      json: { name: 'mine', bindings: [] },
    }
    await expectAnswer(service, create, 403, 'permission_missing')
    await expectAnswer(service, { path: '/api/v1/auth/me', credential: key.secret }, 200)
  })

  it('lists the accounts that may be read, ordered by id', async () => {
    const operator = await newOperator()
    const seen: string[] = []
    for (let i = 0; i < 55; i++) {
      const { id } = await createServiceAccount(service, [])
      await delegate(operator, id, i % 11 === 0 ? ['credential.read'] : ['service-account.read'], [])
      if (i % 11 !== 0) seen.push(id)
    }
    assert.equal(seen.length, 50)
    const first = await expectAnswer(service, { path: '/api/v1/service-accounts', credential: operator.secret }, 200)
    assert.deepEqual(
      first.json.items.map((item: { id: string }) => item.id),
      seen,
    )
    assert.equal(first.json.next, null)
    const { id } = await createServiceAccount(service, [])
    await delegate(operator, id)
    const page = await expectAnswer(service, { path: '/api/v1/service-accounts', credential: operator.secret }, 200)
    assert.equal(page.json.items.length, 50)
    const path = `/api/v1/service-accounts?after=${page.json.next}`
    const rest = await expectAnswer(service, { path, credential: operator.secret }, 200)
    assert.deepEqual(
      rest.json.items.map((item: { id: string }) => item.id),
      [id],
    )
  })

  it('hands out keys within its ceiling and within the policy', async () => {
    const operator = await newOperator()
    const target = await createServiceAccount(service, [binding('releases', 'repository.read', 'artifact.delete')])
    await delegate(operator, target.id)
    const issue = (bindings: readonly TestBinding[]) =>
      issueRequest(service, target.id, { bindings, credential: operator.secret })
    const beyond = [binding('releases', 'repository.read', 'artifact.delete')]
    await expectAnswer(service, issue(beyond), 403, 'ceiling_exceeded')
    await expectAnswer(service, issue([binding('releases', 'content.read')]), 409, 'policy_exceeded')
    const made = await expectAnswer(service, issue([binding('releases', 'repository.read')]), 201)
    await expectAnswer(service, activation(made.json.secret), 204)
    const old = await activeKey(service, target.id, { bindings: beyond })
    const rotate = (bindings: readonly TestBinding[]) =>
      rotateRequest(service, old.id, { bindings, credential: operator.secret })
    await expectAnswer(service, rotate(beyond), 403, 'ceiling_exceeded')
    await expectAnswer(service, rotate([binding('releases', 'content.read')]), 409, 'policy_exceeded')
    const narrow = policyRequest(target.id, service.recoveryKey, target.revision, [
      binding('releases', 'artifact.delete'),
    ])
    await expectAnswer(service, narrow, 200)
    await expectAnswer(service, rotate([binding('releases', 'repository.read')]), 409, 'policy_exceeded')
    const mine = { bindings: [binding('releases', 'repository.read')] }
    await expectAnswer(service, rotateRequest(service, old.id, mine), 201)
  })

  it('hands out no key that outlives its own', async () => {
    const operator = await newOperator(iso(10 * day))
    const target = await createServiceAccount(service, small)
    await delegate(operator, target.id)
    const wish = { bindings: small, credential: operator.secret }
    const plain = await issueKey(service, target.id, wish)
    assert.equal(plain.expiresAt, operator.expiresAt)
    await expectAnswer(service, activation(plain.secret), 204)
    const later = new Date(Date.parse(operator.expiresAt) + 1).toISOString()
    for (const request of [
      issueRequest(service, target.id, { ...wish, expiresAt: later }),
      rotateRequest(service, plain.id, { ...wish, expiresAt: later }),
    ])
      await expectAnswer(service, request, 403, 'ceiling_exceeded')
    const equal = await issueKey(service, target.id, { ...wish, expiresAt: operator.expiresAt })
    assert.equal(equal.expiresAt, operator.expiresAt)
    await expectAnswer(service, issueRequest(service, target.id, { ...wish, expiresAt: iso(-day) }), 400)
    const long = await newOperator(iso(300 * day))
    await delegate(long, target.id)
    const usual = await issueKey(service, target.id, { ...wish, credential: long.secret })
    assert.ok(Math.abs(Date.parse(usual.expiresAt) - service.clock.now() - 90 * day) < minute)
  })

  it('changes only a policy that lies within its ceiling, into one that does', async () => {
    const operator = await newOperator()
    const inside = await createServiceAccount(service, small)
    const wider = await createServiceAccount(service, large)
    for (const { id } of [inside, wider]) await delegate(operator, id)
    await expectAnswer(service, policyRequest(inside.id, operator.secret, 1, large), 403, 'ceiling_exceeded')
    const next = [binding('releases', 'content.read')]
    assert.deepEqual(
      (await expectAnswer(service, policyRequest(inside.id, operator.secret, 1, next), 200)).json.bindings,
      next,
    )
    await expectAnswer(service, policyRequest(wider.id, operator.secret, 1, next), 403, 'ceiling_exceeded')
    await expectAnswer(service, policyRequest(wider.id, operator.secret, 1, []), 403, 'ceiling_exceeded')
    const off = await expectAnswer(service, switchRequest(inside.id, operator.secret, 2, false), 200)
    assert.equal(off.json.enabled, false)
    await expectAnswer(service, switchRequest(inside.id, operator.secret, 3, true), 200)
    for (const enabled of [true, false])
      await expectAnswer(service, switchRequest(wider.id, operator.secret, 1, enabled), 403, 'ceiling_exceeded')
    const seen = await expectAnswer(service, accountRequest(wider.id, service.recoveryKey), 200)
    assert.deepEqual([seen.json.revision, seen.json.enabled, seen.json.bindings], [1, true, large])
  })

  it('exists at most 64 times for a key, also when the last two come at once', async () => {
    const operator = await newOperator()
    const targets: string[] = []
    for (let i = 0; i < 66; i++) targets.push((await createServiceAccount(service, [])).id)
    for (const id of targets.slice(0, 63)) await delegate(operator, id, ['policy.read'], [])
    const json = { actions: ['policy.read'], ceiling: [] }
    const credential = service.recoveryKey
    const told = await Promise.all(
      targets.slice(63).map((id) => service.ask({ ...delegation(operator.id, id), method: 'PUT', credential, json })),
    )
    assert.deepEqual(told.map(({ status }) => status).sort(), [200, 507, 507])
    for (const { status, json } of told) if (status === 507) assert.equal(json.code, 'delegation_limit')
    await delegate(operator, targets[0] ?? '', ['policy.manage'], small)
    await endDelegation(operator, targets[1] ?? '')
    await delegate(operator, targets[1] ?? '')
  })

  it('leaves the keys that it activated when it ends', async () => {
    const operator = await newOperator()
    const target = await createServiceAccount(service, small)
    await delegate(operator, target.id)
    const key = await activeKey(service, target.id, { bindings: small, credential: operator.secret })
    const pending = await issueKey(service, target.id, { bindings: small, credential: operator.secret })
    await endDelegation(operator, target.id)
    await expectAnswer(service, { path: '/api/v1/auth/me', credential: key.secret }, 200)
    await expectAnswer(service, activation(pending.secret), 204)
    for (const [, asked] of everything(target, key.id, operator.secret))
      await expectAnswer(service, asked, 404, 'not_found')
    assert.deepEqual(await listed(operator.secret), [])
    assert.equal((await readKey(service, key.id)).state, 'active')
  })

  it('is for working keys that the recovery key issued, and for no others', async () => {
    const operator = await newOperator()
    const [target, helper] = [await createServiceAccount(service, small), await createServiceAccount(service, small)]
    await delegate(operator, helper.id)
    const handed = await issueKey(service, helper.id, { bindings: small, credential: operator.secret })
    const pending = await issueKey(service, helper.id, { bindings: small })
    const json = { actions: administrationActions, ceiling: small }
    const refused = (key: string, status: number, code: string) => {
      const request = { ...delegation(key, target.id), method: 'PUT', credential: service.recoveryKey, json }
      return expectAnswer(service, request, status, code)
    }
    await expectAnswer(service, activation(handed.secret), 204)
    await refused(handed.id, 403, 'ceiling_exceeded')
    await refused(pending.id, 409, 'key_state')
    const revoked = await newOperator()
    await expectAnswer(service, revocation(revoked.id, service.recoveryKey), 200)
    await refused(revoked.id, 409, 'key_state')
    // What an earlier version may have stored counts as little.
    await inDatabase(service, (q) =>
      q
        .insertInto('delegations')
        .values({
          operator_key_id: handed.id,
          account_id: target.id,
          actions: JSON.stringify(administrationActions),
          ceiling: '[]',
        })
        .execute(),
    )
    await expectAnswer(service, accountRequest(target.id, handed.secret), 404)
    assert.deepEqual(await listed(handed.secret), [])
  })

  it('is lost with the key that holds it: revoked, expired or of a disabled account', async () => {
    const target = await createServiceAccount(service, small)
    const key = await activeKey(service, target.id, { bindings: small })
    const [revoked, expiring, disabled] = [await newOperator(), await newOperator(iso(minute)), await newOperator()]
    for (const operator of [revoked, expiring, disabled]) {
      await delegate(operator, target.id)
      await expectAnswer(service, accountRequest(target.id, operator.secret), 200)
    }
    await expectAnswer(service, revocation(revoked.id, service.recoveryKey), 200)
    await expectAnswer(service, switchRequest(disabled.accountId, service.recoveryKey, 1, false), 200)
    service.clock.advance(minute + 1_000)
    for (const [operator, code] of [
      [revoked, 'credential_invalid'],
      [expiring, 'token_expired'],
      [disabled, 'credential_invalid'],
    ] as const)
      for (const [, asked] of everything(target, key.id, operator.secret)) await expectAnswer(service, asked, 401, code)
    await expectAnswer(service, switchRequest(disabled.accountId, service.recoveryKey, 2, true), 200)
    await expectAnswer(service, accountRequest(target.id, disabled.secret), 200)
  })

  it('belongs to one key: neither another key of the account nor a successor has it', async () => {
    const operator = await newOperator()
    const target = await createServiceAccount(service, small)
    await delegate(operator, target.id)
    const bindings = operators.bindings
    const sibling = await activeKey(service, operator.accountId, { bindings })
    await expectAnswer(service, accountRequest(target.id, sibling.secret), 404, 'not_found')
    const told = await expectAnswer(service, rotateRequest(service, operator.id, { bindings }), 201)
    await expectAnswer(service, accountRequest(target.id, told.json.secret), 401, 'credential_invalid')
    await expectAnswer(service, activation(told.json.secret), 204)
    await expectAnswer(service, accountRequest(target.id, told.json.secret), 404, 'not_found')
    await expectAnswer(service, accountRequest(target.id, operator.secret), 200)
  })

  it('records who did it', async () => {
    const operator = await newOperator()
    const target = await createServiceAccount(service, small)
    await delegate(operator, target.id)
    const key = await issueKey(service, target.id, { bindings: small, credential: operator.secret })
    await expectAnswer(service, revocation(key.id, operator.secret), 200)
    await endDelegation(operator, target.id)
    const path = `/api/v1/service-accounts/${target.id}/audit`
    const { items } = (await expectAnswer(service, { path, credential: service.recoveryKey }, 200)).json
    const byOperator = `service-account:${operator.accountId}`
    assert.deepEqual(
      items.map(({ action, actor }: { action: string; actor: string }) => [action, actor]),
      [
        ['service-account.create', 'key:bootstrap-owner'],
        ['delegation.set', 'key:bootstrap-owner'],
        ['key.issue', byOperator],
        ['key.revoke', byOperator],
        ['delegation.end', 'key:bootstrap-owner'],
      ],
    )
  })
})
