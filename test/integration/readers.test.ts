import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine, onPostgres } from '../harness/engines.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { type PostgresServer, startPostgres } from '../harness/postgres.ts'
import { everyRow } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const raw = '/api/v1/repositories/releases/raw'
const reading = { gateway: 'reader', worker: false } as const

const put = async (service: TestService, who: Person, path: string, body: Buffer): Promise<void> => {
  const told = await service.ask({ method: 'PUT', path: `${raw}/${path}`, credential: who.token, body })
  assert.ok(told.status < 300, told.text)
}

const newToken = async (service: TestService, who: Person): Promise<{ id: string; token: string }> => {
  const told = await service.ask({ path: '/api/v1/auth/tokens', credential: who.token, json: { name: 'script' } })
  assert.equal(told.status, 201, told.text)
  return told.json
}

const faultsIn = ({ log }: TestService): string[] => log.filter((line) => line.includes('"level":"error"'))

forEachEngine((engine) => {
  describe('a read gateway', () => {
    let service: TestService
    let owner: Person
    before(async () => {
      service = await startService(engine)
      owner = await createOwner(service)
    })
    after(() => service.stop())

    it('changes no row, whatever is read through it', async () => {
      const { token } = await newToken(service, owner)
      await put(service, owner, 'file', randomBytes(200_000))
      const before = await everyRow(service)
      const reader = await startService(engine, { on: service, roles: reading })
      for (const path of [`${raw}/file`, '/api/v1/auth/me', '/api/v1/repositories', '/health/ready'])
        assert.equal((await reader.ask({ path, credential: token })).status, 200, path)
      await reader.stop()
      assert.deepEqual(await everyRow(service), before)
      assert.deepEqual(faultsIn(reader), [])
    })

    it('makes no database, no folder and no keys where there are none', async () => {
      const dataDir = await mkdtemp(join(tmpdir(), 'svc-data-'))
      const empty = { ...service, dataDir, databaseUrl: await engine.freshDatabaseUrl(), blobStoreUrl: '' }
      await assert.rejects(startService(engine, { on: empty, roles: reading }), /takes the one of its writer/)
      const keys = { SVC_KEYS_FILE: join(service.dataDir, 'config', 'keys.json') }
      await assert.rejects(
        startService(engine, { on: empty, roles: reading, settings: keys }),
        /has schema 0, this reader needs schema \d+\. Start the writer/,
      )
      await rm(dataDir, { recursive: true })
    })
  })

  describe('a read gateway on a folder', () => {
    it('serves what is there, is ready, and makes nothing in it', async () => {
      const service = await startService(engine, { onDisk: true })
      const owner = await createOwner(service)
      const file = randomBytes(100_000)
      await put(service, owner, 'file', file)
      const staging = join(service.dataDir, 'staging')
      await rename(staging, `${staging}-away`)
      const reader = await startService(engine, { on: service, roles: reading })
      const got = await reader.ask({ path: `${raw}/file`, credential: owner.token })
      assert.ok(got.bytes.equals(file))
      assert.equal((await reader.ask({ path: '/health/status' })).status, 200)
      await reader.stop()
      assert.equal(existsSync(staging), false)
      await rename(`${staging}-away`, staging)
      await service.stop()
    })
  })
})

onPostgres((engine) => {
  describe('a read gateway on a replica of the database', () => {
    let primary: PostgresServer
    let replica: PostgresServer
    let writer: TestService
    let reader: TestService
    let owner: Person
    before(async () => {
      primary = await startPostgres()
      const databaseUrl = await primary.createDatabase()
      replica = await primary.replicate()
      const place = { ...engine, readyDatabaseUrl: async () => databaseUrl }
      writer = await startService(place)
      owner = await createOwner(writer)
      const there = new URL(databaseUrl)
      there.port = new URL(replica.url).port
      await until('the replica has the schema', async () =>
        startService(engine, {
          on: { ...writer, databaseUrl: there.href },
          roles: reading,
          settings: { SVC_SHARED_DOWNLOAD_SLOTS: '8' },
        }).then(
          (started) => {
            reader = started
            return true
          },
          (error: unknown) => {
            assert.match(String(error), /this reader needs schema|does not answer|schema_migrations/)
            return false
          },
        ),
      )
    })
    after(async () => {
      await reader?.stop()
      await writer?.stop()
      await replica?.stop()
      await primary?.stop()
    })

    const shows = (path: string, file: Buffer): Promise<unknown> =>
      until(`the reader shows ${path}`, async () => {
        const told = await reader.ask({ path: `${raw}/${path}`, credential: owner.token })
        return told.status === 200 && told.bytes.equals(file)
      })

    it('serves what the writer stored as soon as the replica has it', async () => {
      const [one, two] = [randomBytes(300_000), randomBytes(300_000)]
      await put(writer, owner, 'replicated', one)
      await shows('replicated', one)
      await put(writer, owner, 'replicated', two)
      await shows('replicated', two)
    })

    it('knows a credential while it is good and no longer', async () => {
      const { id, token } = await newToken(writer, owner)
      const status = async (): Promise<number> =>
        (await reader.ask({ path: '/api/v1/auth/me', credential: token })).status
      await until('the reader knows the token', async () => (await status()) === 200)
      await writer.ask({ method: 'DELETE', path: `/api/v1/auth/tokens/${id}`, credential: owner.token })
      await until('the reader knows that it was revoked', async () => (await status()) === 401)
    })

    it('signs nobody in, and has slots of its own where no lease can be had', async () => {
      const json = { name: owner.name, password: owner.password }
      assert.equal((await reader.ask({ method: 'POST', path: '/api/v1/auth/login', json })).status, 405)
      const ready = await reader.ask({ path: '/health/ready', credential: owner.token })
      assert.deepEqual([ready.json.role, ready.json.writable, ready.json.sharedDownloads], ['reader', false, null])
      assert.equal(ready.json.transfers.downloads.admission.slots, 64)
    })
  })
})
