import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { TestEngine } from './engines.ts'
import { expectAnswer } from './expect.ts'
import { createRepository } from './people.ts'
import { startService, type TestService } from './service.ts'
import { binding, createServiceAccount, revocation, type TestServiceAccount } from './service-keys.ts'

export const me = '/api/v1/auth/me'

/** A service with robots: accounts of services, and what is done to them and their keys. */
export const robots = (engine: TestEngine) => {
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
  return {
    get service() {
      return service
    },
    bindings,
    wish,
    robot,
    iso,
    near,
    works,
    fails,
    enable,
    setPolicy,
    revoke,
  }
}
