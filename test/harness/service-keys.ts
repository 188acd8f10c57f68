import { randomUUID } from 'node:crypto'
import type { RepositoryAction } from '../../src/kernel/actions.ts'
import type { Ask } from './client.ts'
import { expectAnswer } from './expect.ts'
import type { Answering } from './service.ts'

export interface TestBinding {
  readonly resource: { readonly kind: 'repository'; readonly id: string }
  readonly actions: readonly RepositoryAction[]
}

export const binding = (repository: string, ...actions: RepositoryAction[]): TestBinding => ({
  resource: { kind: 'repository', id: repository },
  actions,
})

export interface TestServiceAccount {
  readonly id: string
  readonly name: string
  readonly enabled: boolean
  readonly revision: number
  readonly bindings: TestBinding[]
  readonly createdAt: string
}

export interface TestKey {
  readonly id: string
  readonly accountId: string
  readonly secret: string
  readonly state: string
  readonly expiresAt: string
  readonly activationExpiresAt: string
}

let names = 0
export const freshName = (stem: string): string => `${stem}-${++names}`

/** A service account made by the recovery key. */
export const createServiceAccount = async (
  service: Answering,
  bindings: readonly TestBinding[],
  name = freshName('robot'),
): Promise<TestServiceAccount> => {
  const json = { name, bindings }
  const request = { method: 'POST', path: '/api/v1/service-accounts', credential: service.recoveryKey, json }
  return (await expectAnswer(service, request, 201)).json
}

export interface KeyWish {
  readonly bindings: readonly TestBinding[]
  readonly expiresAt?: string
  readonly name?: string
  readonly credential?: string
  readonly idempotencyKey?: string
}

export const issueRequest = (service: Answering, accountId: string, wish: KeyWish) =>
  keyRequest(service, `/api/v1/service-accounts/${accountId}/keys`, wish)

export const rotateRequest = (service: Answering, keyId: string, wish: KeyWish) =>
  keyRequest(service, `/api/v1/api-keys/${keyId}/rotate`, wish)

const keyRequest = (service: Answering, path: string, wish: KeyWish) => {
  const { bindings, expiresAt, name = 'deploy', credential = service.recoveryKey, idempotencyKey = randomUUID() } = wish
  const json = expiresAt === undefined ? { name, bindings } : { name, bindings, expiresAt }
  return { method: 'POST', path, credential, json, headers: { 'idempotency-key': idempotencyKey } }
}

/** A pending key with its secret. */
export const issueKey = async (service: Answering, accountId: string, wish: KeyWish): Promise<TestKey> =>
  (await expectAnswer(service, issueRequest(service, accountId, wish), 201)).json

export const rotateKey = async (service: Answering, keyId: string, wish: KeyWish): Promise<TestKey> =>
  (await expectAnswer(service, rotateRequest(service, keyId, wish), 201)).json

export const activation = (secret: string) => ({
  method: 'POST',
  path: '/api/v1/auth/activate-key',
  credential: secret,
})

/** A key that works. */
export const activeKey = async (service: Answering, accountId: string, wish: KeyWish): Promise<TestKey> => {
  const key = await issueKey(service, accountId, wish)
  await expectAnswer(service, activation(key.secret), 204)
  return key
}

export const revocation = (keyId: string, credential: string) => ({
  method: 'POST',
  path: `/api/v1/api-keys/${keyId}/revoke`,
  credential,
})

export const readKey = async (service: Answering, keyId: string) =>
  (await expectAnswer(service, { path: `/api/v1/api-keys/${keyId}`, credential: service.recoveryKey }, 200)).json

/** A request for an account of a service. */
export const accountRequest = (id: string, credential: string): Ask => ({
  path: `/api/v1/service-accounts/${id}`,
  credential,
})
/** Turns it on or off. */
export const switchRequest = (id: string, credential: string, expectedRevision: number, enabled: boolean): Ask => ({
  ...accountRequest(id, credential),
  method: 'PATCH',
  json: { expectedRevision, enabled },
})
/** Replaces its policy. */
export const policyRequest = (
  id: string,
  credential: string,
  expectedRevision: number,
  bindings: readonly TestBinding[],
): Ask => ({
  path: `/api/v1/service-accounts/${id}/policy`,
  credential,
  method: 'PUT',
  json: { expectedRevision, bindings },
})
