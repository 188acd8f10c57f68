import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type Ask, ask, type Told } from './client.ts'
import type { LoneService } from './lone-service.ts'

/** Asks a service; fails on another status. */
export type AskedFor = (request: Ask, status: number) => Promise<Told>

/** By the recovery key, unless somebody else is said. */
export const askedOf =
  (service: LoneService): AskedFor =>
  async (request, status) => {
    const answer = await ask(service.address, { credential: service.credential(), ...request })
    assert.equal(answer.status, status, answer.text)
    return answer
  }

/** A service key with these actions by repository. */
export const keyWith = async (told: AskedFor, held: Readonly<Record<string, readonly string[]>>): Promise<string> => {
  const bindings = Object.entries(held).map(([id, actions]) => ({ resource: { kind: 'repository', id }, actions }))
  const json = { name: `robot-${randomUUID().slice(0, 8)}`, bindings }
  const { id } = (await told({ path: '/api/v1/service-accounts', json }, 201)).json
  const headers = { 'idempotency-key': randomUUID() }
  const path = `/api/v1/service-accounts/${id}/keys`
  const { secret } = (await told({ path, json: { name: 'deploy', bindings }, headers }, 201)).json
  await told({ method: 'POST', path: '/api/v1/auth/activate-key', credential: secret }, 204)
  return secret
}
