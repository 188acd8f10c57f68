import { after, before, it } from 'node:test'
import { administrationActions } from '../../src/kernel/actions.ts'
import { type Ask, closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { createOwner, createPerson, createRepository, password, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import {
  activation,
  activeKey,
  binding,
  createServiceAccount,
  freshName,
  issueKey,
  revocation,
  rotateKey,
} from '../harness/service-keys.ts'

after(closeConnections)

/** Whatever one process is told about people, systems and their rights holds in the others at the very next request. */
forEachEngine((engine) => {
  let service: TestService
  let others: TestService[]
  before(async () => {
    service = await startService(engine)
    const reader = { gateway: 'reader', worker: false } as const
    others = [await startService(engine, { on: service }), await startService(engine, { on: service, roles: reader })]
    await createOwner(service)
    await createRepository(service, 'shared')
  })
  after(async () => {
    for (const other of others) await other.stop()
    await service.stop()
  })

  const me = '/api/v1/auth/me'
  const card = '/api/v1/repositories/shared'
  /** Asked first, so that whatever could be remembered is; then changed here; then asked again there. */
  const rounds = async (
    credential: string,
    path: string,
    before: number,
    change: Omit<Ask, 'path'> & { path: string },
    status: number,
    then: number,
  ): Promise<void> => {
    for (const other of others) await expectAnswer(other, { path, credential }, before)
    await expectAnswer(service, { credential: service.recoveryKey, ...change }, status)
    for (const other of others) await expectAnswer(other, { path, credential }, then)
  }
  const tokenOf = async (session: string, json: object = {}) =>
    (
      await expectAnswer(
        service,
        { path: '/api/v1/auth/tokens', credential: session, json: { name: 'x', ...json } },
        201,
      )
    ).json as { id: string; token: string }

  it('sessions and personal tokens', async () => {
    const person = await createPerson(service, freshName('person'))
    const user = `/api/v1/users/${person.id}`
    const patch = (json: object): Ask => ({ method: 'PATCH', path: user, json })
    await rounds(
      person.token,
      me,
      200,
      { method: 'POST', path: '/api/v1/auth/logout', credential: person.token },
      204,
      401,
    )
    let session = await signIn(service, person.name)
    const revoked = await tokenOf(session)
    await rounds(
      revoked.token,
      me,
      200,
      { method: 'DELETE', path: `/api/v1/auth/tokens/${revoked.id}`, credential: session },
      204,
      401,
    )
    const taken = await tokenOf(session)
    await rounds(taken.token, me, 200, { method: 'DELETE', path: `${user}/tokens/${taken.id}` }, 204, 401)
    const kept = await tokenOf(session)
    await rounds(kept.token, me, 200, patch({ enabled: false }), 200, 401)
    await rounds(kept.token, me, 401, patch({ enabled: true }), 200, 200)
    await rounds(session, me, 401, patch({ enabled: true }), 200, 401)
    await rounds(kept.token, me, 200, patch({ password: 'an entirely new one' }), 200, 401)
    session = await signIn(service, person.name, 'an entirely new one')
    const last = await tokenOf(session)
    const json = { currentPassword: 'an entirely new one', newPassword: password }
    await rounds(last.token, me, 200, { path: '/api/v1/auth/password', credential: session, json }, 204, 401)
    for (const other of others) await expectAnswer(other, { path: me, credential: session }, 401)
  })

  it('groups, members and grants', async () => {
    const { id, token } = await createPerson(service, freshName('member'))
    const made = { path: '/api/v1/access-groups', credential: service.recoveryKey, json: { name: freshName('group') } }
    const group = `${made.path}/${(await expectAnswer(service, made, 201)).json.id}`
    const member = (method: string): Ask => ({ method, path: `${group}/members/${id}` })
    const grant = (access: string): Ask => ({ method: 'PUT', path: `${group}/grants/shared`, json: { access } })
    await rounds(token, card, 404, grant('read'), 204, 404)
    await rounds(token, card, 404, member('PUT'), 204, 200)
    await rounds(token, card, 200, { method: 'DELETE', path: `${group}/grants/shared` }, 204, 404)
    await rounds(token, card, 404, grant('write'), 204, 200)
    await rounds(token, card, 200, member('DELETE'), 204, 404)
    await rounds(token, card, 404, member('PUT'), 204, 200)
    await rounds(token, card, 200, { method: 'DELETE', path: group }, 204, 404)
  })

  it('service accounts, their policies and keys', async () => {
    const bindings = [binding('shared', 'repository.read')]
    const account = await createServiceAccount(service, bindings)
    const path = `/api/v1/service-accounts/${account.id}`
    let expectedRevision = 0
    const patch = (enabled: boolean): Ask => ({
      method: 'PATCH',
      path,
      json: { expectedRevision: ++expectedRevision, enabled },
    })
    const policy = (to: typeof bindings): Ask => ({
      method: 'PUT',
      path: `${path}/policy`,
      json: { expectedRevision: ++expectedRevision, bindings: to },
    })
    const issued = await issueKey(service, account.id, { bindings })
    await rounds(issued.secret, card, 401, activation(issued.secret), 204, 200)
    await rounds(issued.secret, card, 200, policy([]), 200, 404)
    await rounds(issued.secret, card, 404, policy(bindings), 200, 200)
    await rounds(issued.secret, card, 200, patch(false), 200, 401)
    await rounds(issued.secret, card, 401, patch(true), 200, 200)
    const next = await rotateKey(service, issued.id, { bindings })
    await rounds(next.secret, card, 401, activation(next.secret), 204, 200)
    await rounds(issued.secret, card, 200, revocation(issued.id, service.recoveryKey), 200, 401)
    await rounds(next.secret, card, 200, revocation(next.id, service.recoveryKey), 200, 401)
  })

  it('delegations', async () => {
    const operator = await activeKey(service, (await createServiceAccount(service, [])).id, { bindings: [] })
    const target = (await createServiceAccount(service, [])).id
    const path = `/api/v1/service-accounts/${target}`
    const delegations = `/api/v1/api-keys/${operator.id}/delegations/${target}`
    const put = (actions: readonly string[]): Ask => ({
      method: 'PUT',
      path: delegations,
      json: { actions, ceiling: [] },
    })
    await rounds(operator.secret, path, 404, put(administrationActions), 200, 200)
    await rounds(operator.secret, path, 200, put(['policy.read']), 200, 403)
    await rounds(operator.secret, `${path}/policy`, 200, { method: 'DELETE', path: delegations }, 204, 404)
  })

  it('repositories', async () => {
    const { token } = await createPerson(service, freshName('administrator'), true)
    const credential = service.recoveryKey
    const bindings = [binding('later', 'repository.read')]
    const key = await activeKey(service, (await createServiceAccount(service, bindings)).id, { bindings })
    const later = '/api/v1/repositories/later'
    await rounds(
      key.secret,
      later,
      404,
      { path: '/api/v1/repositories', credential: token, json: { id: 'later' } },
      201,
      200,
    )
    await rounds(key.secret, later, 200, { method: 'DELETE', path: later, credential }, 204, 404)
  })
})
