import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { ask, type Told } from './client.ts'
import { type LoneService, startLoneService } from './lone-service.ts'

/** What a service key may have to do there. */
export const reading = ['artifact.list', 'artifact.read', 'content.read'] as const
export const publishing = [
  ...reading,
  'asset.read',
  'asset.write',
  'package.publish',
  'upload.complete',
  'upload.create',
  'upload.write',
] as const
export const everything = [...publishing, 'artifact.delete'] as const

/** A service with npm registries, and credentials for them. */
export interface NpmService extends AsyncDisposable {
  readonly service: LoneService
  /** The address of a registry, as clients are set to it. */
  registry(repository?: string): string
  /** A service key with these actions by repository. */
  keyFor(held: Readonly<Record<string, readonly string[]>>): Promise<string>
  /** Lines of `.npmrc` for one registry and a credential for it. */
  npmrc(secret: string, repository?: string): string[]
  /** Asks the service; fails on another status. The recovery key asks, unless somebody else is said. */
  told(request: Parameters<typeof ask>[1], status: number): Promise<Told>
}

/** Starts it; `name` is in the name of its folder. */
export const startNpmService = async (name: string): Promise<NpmService> => {
  const service = await startLoneService(name, { SVC_LOG_LEVEL: 'info' })
  const { host } = new URL(service.address)
  const told: NpmService['told'] = async (request, status) => {
    const answer = await ask(service.address, { credential: service.credential(), ...request })
    assert.equal(answer.status, status, answer.text)
    return answer
  }
  return {
    service,
    told,
    registry: (repository = 'releases') => `${service.address}/npm/${repository}/`,
    npmrc: (secret, repository = 'releases') => [
      `registry=${service.address}/npm/${repository}/`,
      `//${host}/npm/${repository}/:_authToken=${secret}`,
    ],
    async keyFor(held) {
      const bindings = Object.entries(held).map(([id, actions]) => ({ resource: { kind: 'repository', id }, actions }))
      const json = { name: `robot-${randomUUID().slice(0, 8)}`, bindings }
      const { id } = (await told({ path: '/api/v1/service-accounts', json }, 201)).json
      const headers = { 'idempotency-key': randomUUID() }
      const path = `/api/v1/service-accounts/${id}/keys`
      const { secret } = (await told({ path, json: { name: 'deploy', bindings }, headers }, 201)).json
      await told({ method: 'POST', path: '/api/v1/auth/activate-key', credential: secret }, 204)
      return secret
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}
