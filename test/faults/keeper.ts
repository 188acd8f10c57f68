import assert from 'node:assert/strict'
import { ask, type Told } from '../harness/client.ts'
import type { Target } from './uploads.ts'

const releases = '/api/v1/repositories/releases'

/** A service key that may delete in `releases`, which the recovery key may not. */
export const makeKeeper = async (site: Target): Promise<string> => {
  const bindings = [{ resource: { kind: 'repository', id: 'releases' }, actions: ['artifact.delete', 'artifact.read'] }]
  const call = async (path: string, credential: string, json?: unknown): Promise<Told> => {
    const told = await ask(site.url, {
      method: 'POST',
      path: `/api/v1${path}`,
      credential,
      headers: { 'idempotency-key': 'keeper' },
      ...(json === undefined ? {} : { json }),
    })
    assert.ok(told.status < 300, told.text)
    return told
  }
  const wish = { name: 'keeper', bindings }
  const account = await call('/service-accounts', site.credential, wish)
  const { secret } = (await call(`/service-accounts/${account.json.id}/keys`, site.credential, wish)).json
  await call('/auth/activate-key', secret)
  return secret
}

export const removeArtifact = (site: Target, keeper: string, id: string): Promise<Told> =>
  ask(site.url, {
    method: 'DELETE',
    path: `${releases}/artifacts/${id}`,
    credential: keeper,
    json: { expectedAnnotationRevision: 0 },
  })

export const restoreArtifact = (site: Target, keeper: string, id: string): Promise<Told> =>
  ask(site.url, { method: 'POST', path: `${releases}/artifacts/${id}/restore`, credential: keeper })
