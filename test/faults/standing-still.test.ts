import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { postgresChangesMax } from '../../src/kernel/limits/engines.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { engineOn } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { type PostgresServer, startPostgres } from '../harness/postgres.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts'

after(closeConnections)

const base = '/api/v1/repositories/releases'
const put = (service: TestService, name: string): Ask => ({
  method: 'PUT',
  path: `${base}/raw/${name}`,
  credential: service.recoveryKey,
  body: name,
})
const get = (service: TestService, path: string): Ask => ({ path, credential: service.recoveryKey })

const assertUnavailable = ({ status, headers, text, json }: Told): void => {
  assert.equal(status, 503, text)
  assert.equal(json.code, 'unavailable')
  assert.ok(Number(headers['retry-after']) >= 1)
}

/** Reads, and whether the service lives, are answered although changes wait. */
const readsAreAnswered = async (service: TestService): Promise<void> => {
  for (let round = 0; round < 3; round++) {
    await expectAnswer(service, get(service, `${base}/raw/before`), 200)
    await expectAnswer(service, get(service, `${base}/artifacts`), 200)
    await expectAnswer(service, get(service, '/health/status'), 200)
    await expectAnswer(service, { path: '/health/ready', credential: service.healthKey }, 200)
  }
}

/** More than there are connections for changes. */
const names = (stem: string): string[] =>
  Array.from({ length: postgresChangesMax * 2 }, (_, index) => `${stem}/${index}`)

describe('what stands still', { concurrency: true }, () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.stop())

  const open = async (url = () => server.createDatabase()): Promise<TestService> => {
    const service = await startService(engineOn(url), { roles: { gateway: 'api', worker: false } })
    await expectAnswer(service, put(service, 'before'), 201)
    return service
  }

  describe('another gateway, inside a transaction', () => {
    let service: TestService
    let other: ChildProcess
    before(async () => {
      service = await open()
    })
    after(async () => {
      if (other.exitCode === null && other.signalCode === null) {
        other.kill('SIGKILL')
        await once(other, 'exit')
      }
      await service.stop()
    })

    it('keeps changes waiting for seconds, reads not at all, and has changed nothing when it wakes', async () => {
      const program = fileURLToPath(new URL('./stands-still.ts', import.meta.url))
      other = spawn(process.execPath, [program, service.databaseUrl], { stdio: ['pipe', 'pipe', 'inherit'] })
      assert.ok(other.stdout !== null && other.stdin !== null)
      const said: string[] = []
      createInterface(other.stdout).on('line', (line) => said.push(line))
      await until('it is inside', () => said.includes('inside'))
      other.kill('SIGSTOP')
      other.stdin.write('go on\n')
      const changes = Promise.all(names('behind').map((name) => service.ask(put(service, name))))
      await readsAreAnswered(service)
      for (const told of await changes) if (told.status !== 201) assertUnavailable(told)
      await expectAnswer(service, put(service, 'behind/last'), 201)
      other.kill('SIGCONT')
      await once(other, 'exit')
      assert.deepEqual(said, ['inside', 'unavailable'])
      const { json } = await expectAnswer(service, get(service, `${base}/changes`), 200)
      assert.ok(Number(json.head) < 1_000, json.head)
    })
  })

  describe('a lock that somebody keeps', () => {
    let service: TestService
    let keeper: Client
    before(async () => {
      service = await open()
      keeper = new Client({ connectionString: service.databaseUrl })
      await keeper.connect()
    })
    after(async () => {
      await keeper.end()
      await service.stop()
    })

    it('makes changes fail as unavailable, and reads wait for nothing', async () => {
      await keeper.query(`begin; update repositories set id = id where id = 'releases'`)
      const changes = Promise.all(names('locked').map((name) => service.ask(put(service, name))))
      await readsAreAnswered(service)
      for (const told of await changes) assertUnavailable(told)
      await keeper.query('rollback')
      await expectAnswer(service, put(service, 'locked/0'), 201)
    })
  })

  describe('a database that falls silent', () => {
    let service: TestService
    let proxy: CuttingProxy
    before(async () => {
      proxy = await startCuttingProxy(await server.createDatabase())
      service = await open(async () => proxy.url)
    })
    after(async () => {
      await service.stop()
      await proxy[Symbol.asyncDispose]()
    })

    it('makes every request fail as unavailable, and is used again when it speaks', async () => {
      const some = names('silent')
      proxy.fallSilent()
      const asked = [
        ...some.map((name) => put(service, name)),
        ...some.map(() => get(service, `${base}/artifacts`)),
        ...some.map(() => get(service, `${base}/raw/before`)),
        { path: '/api/v1/auth/login', json: { name: 'somebody', password: 'something long' } },
      ]
      const answers = Promise.all(asked.map((request) => service.ask(request)))
      await until('health tells', async () => (await service.ask({ path: '/health/status' })).status === 503)
      for (const told of await answers) assertUnavailable(told)
      proxy.speak()
      await until('it is used again', async () => (await service.ask(put(service, 'again'))).status < 300)
      await readsAreAnswered(service)
    })
  })

  describe('a server that another one takes over from', () => {
    let primary: PostgresServer
    let replica: PostgresServer
    let service: TestService
    let proxy: CuttingProxy
    before(async () => {
      primary = await startPostgres({ wal_level: 'replica' })
      const url = await primary.createDatabase()
      replica = await primary.replicate()
      proxy = await startCuttingProxy(url)
      service = await open(async () => proxy.url)
    })
    after(async () => {
      await service.stop()
      await proxy[Symbol.asyncDispose]()
      await replica.stop()
      await primary.stop()
    })

    it('answers reads meanwhile and refuses changes as unavailable, until the other takes them', async () => {
      proxy.leadTo(replica.url)
      await until('the other one has what was stored', async () => {
        const told = await service.ask(get(service, `${base}/raw/before`))
        return told.status === 200
      })
      const refused = await service.ask(put(service, 'too early'.replace(' ', '-')))
      assertUnavailable(refused)
      await primary.halt()
      const admin = new Client({ connectionString: replica.url })
      await admin.connect()
      await admin.query('select pg_promote()')
      await admin.end()
      await until('it takes changes', async () => (await service.ask(put(service, 'after'))).status < 300)
      for (let round = 0; round < 3; round++) await expectAnswer(service, put(service, `after/${round}`), 201)
      // Connections that were idle when the old one came back lead nowhere else by themselves.
      await readsAreAnswered(service)
    })
  })
})
