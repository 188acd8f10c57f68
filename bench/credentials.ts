import { randomBytes, randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './processes.ts'
import { type Bench, person } from './servers.ts'

/** Many credentials of each kind, so that no request is like the last. */
export type Credentials = ReadonlyMap<string, readonly string[]>

const releases = { kind: 'repository', id: 'releases' }
const bindings = [{ resource: releases, actions: ['repository.read', 'artifact.read', 'content.read', 'asset.read'] }]

/** Makes the credentials with the recovery key, and the secrets that nobody knows. */
export const makeCredentials = async (base: string, recoveryKey: string): Promise<Credentials> => {
  const post = async (path: string, credential: string | null, json: unknown): Promise<Record<string, string>> => {
    const answer = await fetch(`${base}/api/v1${path}`, {
      method: 'POST',
      headers: {
        'idempotency-key': randomUUID(),
        ...(json === null ? {} : { 'content-type': 'application/json' }),
        ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
      },
      body: json === null ? null : JSON.stringify(json),
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.status === 204 ? {} : ((await answer.json()) as Record<string, string>)
  }
  const several = async (count: number, make: () => Promise<string>): Promise<string[]> => {
    const made: string[] = []
    while (made.length < count) made.push(await make())
    return made
  }
  const sessions = await several(16, async () => (await post('/auth/login', null, person))['token'] ?? '')
  const tokens = await several(
    40,
    async () => (await post('/auth/tokens', sessions[0] ?? '', { name: 'bench' }))['token'] ?? '',
  )
  const keys = await several(20, async () => {
    const name = `bench-${randomUUID().slice(0, 8)}`
    const { id } = await post('/service-accounts', recoveryKey, { name, bindings })
    const { secret = '' } = await post(`/service-accounts/${id}/keys`, recoveryKey, { name, bindings })
    await post('/auth/activate-key', secret, null)
    return secret
  })
  const unknown = await several(500, async () => `pat_${randomBytes(32).toString('base64url')}`)
  return new Map([
    ['session', sessions],
    ['personal token', tokens],
    ['service key', keys],
    ['recovery key', [recoveryKey]],
    ['unknown token', unknown],
  ])
}

/** Links to one small file, as paths. */
export const makeLinks = async (base: string, recoveryKey: string): Promise<{ links: string[]; content: string }> => {
  const authorization = `Bearer ${recoveryKey}`
  const put = await fetch(`${base}/api/v1/repositories/releases/raw/bench/link`, {
    method: 'PUT',
    headers: { authorization },
    body: 'a small file',
  })
  const { artifact } = (await put.json()) as { artifact: { id: string } }
  const path = `/api/v1/repositories/releases/artifacts/${artifact.id}`
  const links: string[] = []
  while (links.length < 50) {
    const headers = { authorization, 'content-type': 'application/json' }
    const made = await fetch(`${base}${path}/links`, { method: 'POST', headers, body: '{}' })
    const { token } = (await made.json()) as { token: string }
    links.push(`${path}/content?token=${token}`)
  }
  return { links, content: `${path}/content` }
}

/** What one of many requests says: a path, and a credential or none. */
export interface Said {
  readonly path: string
  readonly credential: string | null
}

/** Sends requests drawn at random over 16 connections; answers how many were answered. */
export const randomRequests = async (
  server: Bench,
  base: string,
  scratch: string,
  said: readonly Said[],
  seconds: number,
): Promise<number> => {
  const script = join(scratch, `requests-${randomUUID()}.lua`)
  const requests = said.map(
    ({ path, credential }) =>
      `  wrk.format('GET', '${path}', ${credential === null ? '{}' : `{['Authorization'] = 'Bearer ${credential}'}`}),`,
  )
  // Formatted in init, when wrk knows the host.
  const lines = [
    'local r',
    'init = function() r = {',
    ...requests,
    '} end',
    'request = function() return r[math.random(#r)] end',
  ]
  await writeFile(script, `${lines.join('\n')}\n`)
  const out = await run('wrk', ['-t1', '-c16', `-d${seconds}s`, '-s', script, base])
  const count = Number(/(\d+) requests in/.exec(out)?.[1])
  if (!(count > 0) || /Socket errors/.test(out)) throw new Error(`${server.name}: ${out}`)
  return count
}
