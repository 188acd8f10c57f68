import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { MiB } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { type Connection, openConnection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { openSession } from '../harness/parts.ts'
import { createOwner, createPerson, grant, type Person } from '../harness/people.ts'
import { newFile } from '../harness/publishing.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const repository = '/api/v1/repositories/releases'
const raw = `${repository}/raw`
const python = fileURLToPath(new URL('../harness/put.py', import.meta.url))

interface Refused {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly status: number
}

const run = (command: string, args: readonly string[], input: string | Uint8Array): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = execFile(command, args, (error, stdout, stderr) => {
      // curl also fails when it could not send everything, which is no harm.
      if (stdout === '') reject(new Error(`${command}: ${stderr}`, { cause: error }))
      else resolve(stdout)
    })
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })

const clients = {
  fetch: (service: TestService, bytes: number, all: readonly Refused[]): Promise<unknown[]> =>
    Promise.all(
      all.map(async ({ method, path, headers }) => {
        try {
          const told = await fetch(service.url + path, { method, headers, body: Buffer.alloc(bytes) })
          await told.text()
          return told.status
        } catch (error) {
          return error instanceof Error ? `${error.message}: ${error.cause}` : error
        }
      }),
    ),
  python: async (service: TestService, bytes: number, all: readonly Refused[]): Promise<unknown[]> => {
    const { hostname, port } = new URL(service.url)
    const requests = all.map((each) => ({ ...each, host: hostname, port: Number(port), bytes }))
    return JSON.parse(await run('python3', [python], JSON.stringify(requests)))
  },
  curl: (service: TestService, bytes: number, all: readonly Refused[]): Promise<unknown[]> =>
    Promise.all(
      all.map(async ({ method, path, headers }) => {
        const lines = Object.entries({ ...headers, expect: '' }).flatMap(([name, value]) => ['-H', `${name}:${value}`])
        const flags = ['-sS', '-o', '/dev/null', '-w', '%{http_code}', '-X', method, '--data-binary', '@-', ...lines]
        return Number(await run('curl', [...flags, service.url + path], Buffer.alloc(bytes)))
      }),
    ),
} as const

forEachEngine((engine) => {
  describe('a refusal of a large body', () => {
    let service: TestService
    let owner: Person
    let refused: Refused[]
    let holder: Connection
    const busy = newFile('busy', Buffer.alloc(9 * MiB, 'b'))

    before(async () => {
      service = await startService(engine, {
        settings: { SVC_MAX_OBJECT_BYTES: String(70 * MiB), SVC_CAPACITY_BYTES: String(50 * MiB) },
      })
      owner = await createOwner(service)
      const reader = await createPerson(service, 'reader')
      await grant(service, reader, 'releases', 'read')
      const put = await service.ask({ method: 'PUT', path: `${raw}/there`, credential: owner.token, body: 'there' })
      assert.equal(put.status, 201)
      const session = await openSession(service, owner.token, 'releases', busy)
      const other = await openSession(service, owner.token, 'releases', newFile('other', 'other'))
      holder = await openConnection(service.url)
      holder.send(
        `PUT ${session}/content HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${owner.token}\r\nContent-Type: application/octet-stream\r\nContent-Length: ${busy.bytes.byteLength}\r\n\r\nbegun`,
      )
      await until('an upload is under way', async () => {
        const { json } = await service.ask({ path: '/health/ready', credential: service.healthKey })
        return json.transfers.uploads.admission.active === 1
      })
      const of = (who: string): Record<string, string> => ({ authorization: `Bearer ${who}` })
      const mine = of(owner.token)
      const bytes = { 'content-type': 'application/octet-stream' }
      const json = { 'content-type': 'application/json' }
      refused = [
        { method: 'PUT', path: `${raw}/x`, headers: of('x'.repeat(64)), status: 401 },
        { method: 'PUT', path: `${raw}/x`, headers: of(reader.token), status: 403 },
        { method: 'PUT', path: `${raw.replace('releases', 'missing')}/x`, headers: mine, status: 404 },
        { method: 'PUT', path: '/nowhere', headers: mine, status: 404 },
        { method: 'POST', path: `${raw}/x`, headers: mine, status: 405 },
        { method: 'PUT', path: `${raw}/there`, headers: { ...mine, 'if-none-match': '*' }, status: 409 },
        { method: 'POST', path: `${repository}/uploads`, headers: { ...mine, ...json }, status: 413 },
        { method: 'PUT', path: `${other}/content`, headers: { ...mine, 'content-type': 'text/html' }, status: 415 },
        { method: 'PUT', path: `${other}/content`, headers: { ...mine, ...bytes }, status: 422 },
        { method: 'PUT', path: `${session}/content`, headers: { ...mine, ...bytes }, status: 503 },
      ]
    })
    after(async () => {
      holder.socket.destroy()
      await service.stop()
    })

    for (const [name, send] of Object.entries(clients))
      it(`reaches ${name}, which sends before it reads`, async () => {
        assert.deepEqual(
          await send(service, 8 * MiB, refused),
          refused.map(({ status }) => status),
        )
        const largest = refused.filter(({ status }) => [401, 503].includes(status))
        const full = {
          method: 'PUT',
          path: `${raw}/x`,
          headers: { authorization: `Bearer ${owner.token}` },
          status: 507,
        }
        assert.deepEqual(await send(service, 60 * MiB, [...largest, full]), [401, 503, 507])
      })

    it('of a body that never comes ends its connection', async () => {
      const connection = await openConnection(service.url)
      connection.send(`PUT ${raw}/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n`)
      assert.match(await connection.ended(), /^HTTP\/1\.1 401 [\s\S]*credential_missing/)
    })
  })
})
