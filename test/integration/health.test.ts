import assert from 'node:assert/strict'
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { PassThrough } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { Client } from 'pg'
import { shownPath } from '../../src/contract/operation.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine, onPostgres, onSqlite } from '../harness/engines.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { type PostgresServer, startPostgres } from '../harness/postgres.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const raw = '/api/v1/repositories/releases/raw'

const assertAway = async (service: TestService, what: RegExp): Promise<void> => {
  // One look is believed for a second.
  service.clock.advance(1000)
  const status = await service.ask({ path: '/health/status' })
  assert.deepEqual([status.status, status.json], [503, { status: 'unavailable' }])
  assert.ok(Number(status.headers['retry-after']) >= 1)
  const head = await service.ask({ method: 'HEAD', path: '/health/status' })
  assert.deepEqual([head.status, head.headers['retry-after']], [503, status.headers['retry-after']])
  const ready = await service.ask({ path: '/health/ready', credential: service.healthKey })
  assert.deepEqual([ready.status, ready.json.code], [503, 'unavailable'])
  assert.match(ready.json.detail, what)
  assert.equal((await service.ask({ path: '/health/live' })).status, 200)
  assert.equal((await service.ask({ path: '/health/metrics', credential: service.healthKey })).status, 200)
}

const untilReady = (service: TestService): Promise<unknown> =>
  until('the service is ready again', async () => {
    service.clock.advance(1000)
    return (await service.ask({ path: '/health/status' })).status === 200
  })

forEachEngine((engine) => {
  describe('health', () => {
    let service: TestService
    let owner: Person
    before(async () => {
      service = await startService(engine, { onDisk: true })
      owner = await createOwner(service)
    })
    after(() => service.stop())

    it('says to anyone that the process lives and whether requests can be served', async () => {
      assert.deepEqual((await service.ask({ path: '/health/live' })).json, { status: 'ok' })
      assert.deepEqual((await service.ask({ path: '/health/status' })).json, { status: 'ready' })
    })

    it('measures what the page of metrics names, and nothing else but the figures of the Node process', async () => {
      const { text } = await service.ask({ path: '/health/metrics', credential: service.healthKey })
      const ofNode = /^svc_(?:process_(?!start_time)|nodejs_)/
      const measured = [...text.matchAll(/^# TYPE (\S+)/gm)]
        .map(([, name = '']) => name)
        .filter((name) => !ofNode.test(name))
      const named = [...(await readFile('docs/operating/health.md', 'utf8')).matchAll(/`(svc_[a-z_<>]+[a-z])`/g)].map(
        ([, name = '']) => name,
      )
      const isNamed = (name: string): boolean =>
        named.some((each) => new RegExp(`^${each.replace(/<[a-z]+>/, '[a-z_]+')}$`).test(name))
      assert.ok(measured.length > 30, text)
      assert.deepEqual(
        measured.filter((name) => !isNamed(name)),
        [],
        'measured and not named',
      )
      const isMeasured = (name: string): boolean =>
        measured.some((each) => new RegExp(`^${name.replace(/<[a-z]+>/, '[a-z_]+')}$`).test(each))
      const here = named.filter((name) => engine.name === 'sqlite' || !name.startsWith('svc_database_log_'))
      assert.deepEqual(
        here.filter((name) => !isMeasured(name)),
        [],
        'named and not measured',
      )
    })

    it('tells details to any valid credential', async () => {
      await service.ask({ method: 'PUT', path: `${raw}/a`, credential: owner.token, body: 'twelve bytes' })
      await service.ask({ path: `${raw}/a`, credential: owner.token })
      for (const credential of [owner.token, service.healthKey, service.recoveryKey]) {
        const told = await service.ask({ path: '/health/ready', credential })
        assert.deepEqual(told.json, {
          role: 'api',
          status: 'ready',
          writable: true,
          sharedDownloads: null,
          transfers: {
            uploads: { admission: { active: 0 }, bandwidth: { bytes: '12' } },
            downloads: {
              admission: { active: 0, slots: 64, held: 0, waiting: 0 },
              bandwidth: { bytes: '12' },
              sessions: { open: 0 },
            },
          },
        })
      }
    })

    it('says that nothing can be written on a read gateway, and when the disk keeps its reserve', async () => {
      const reader = await startService(engine, {
        onDisk: true,
        on: service,
        roles: { gateway: 'reader', worker: false },
      })
      const full = await startService(engine, {
        onDisk: true,
        on: service,
        roles: { gateway: 'api', worker: false },
        settings: { SVC_FREE_SPACE_RESERVE_BYTES: String(Number.MAX_SAFE_INTEGER) },
      })
      try {
        const ready = async (on: TestService) =>
          (await on.ask({ path: '/health/ready', credential: on.healthKey })).json
        const [read, kept] = [await ready(reader), await ready(full)]
        assert.deepEqual([read.role, read.status, read.writable], ['reader', 'ready', false])
        assert.deepEqual([kept.role, kept.status, kept.writable], ['api', 'ready', false])
        const put = await full.ask({ method: 'PUT', path: `${raw}/b`, credential: owner.token, body: 'bytes' })
        assert.deepEqual([put.status, put.json.code], [507, 'insufficient_space'])
        assert.equal((await full.ask({ path: `${raw}/a`, credential: owner.token })).text, 'twelve bytes')
      } finally {
        await full.stop()
        await reader.stop()
      }
    })

    it('turns to unavailable while the blob store is away, and back', async () => {
      const staging = join(service.dataDir, 'staging')
      await rename(staging, `${staging}.away`)
      try {
        await assertAway(service, /blob store/)
      } finally {
        await rename(`${staging}.away`, staging)
      }
      await untilReady(service)
    })
  })

  describe('metrics', () => {
    let service: TestService
    let owner: Person
    before(async () => {
      service = await startService(engine, { onDisk: true })
      owner = await createOwner(service)
    })
    after(() => service.stop())

    const metrics = async (): Promise<string> => {
      const told = await service.ask({ path: '/health/metrics', credential: service.healthKey })
      assert.equal(told.status, 200)
      assert.match(String(told.headers['content-type']), /^text\/plain; version=0\.0\.4/)
      return told.text
    }
    const value = (text: string, line: string): number | undefined => {
      const found = text.split('\n').find((each) => each.startsWith(`${line} `))
      return found === undefined ? undefined : Number(found.slice(line.length + 1))
    }

    it('count answers by route template, method and status class, and bytes by direction', async () => {
      await service.ask({ method: 'PUT', path: `${raw}/counted`, credential: owner.token, body: 'twelve bytes' })
      await service.ask({ path: `${raw}/counted`, credential: owner.token })
      await service.ask({ path: `${raw}/missing`, credential: owner.token })
      const text = await until('both downloads are counted', async () => {
        const now = await metrics()
        return now.includes('method="GET",status_class="4xx"') && now
      })
      const labels = `route="/api/v1/repositories/{repository}/raw/{assetPath}"`
      for (const [method, statusClass] of [
        ['PUT', '2xx'],
        ['GET', '2xx'],
        ['GET', '4xx'],
      ])
        assert.equal(
          value(text, `svc_http_requests_total{${labels},method="${method}",status_class="${statusClass}"}`),
          1,
        )
      assert.equal(value(text, `svc_http_request_duration_seconds_count{${labels},method="GET"}`), 2)
      assert.equal(value(text, 'svc_transfer_bytes_total{direction="in"}'), 12)
      assert.equal(value(text, 'svc_transfer_bytes_total{direction="out"}'), 12)
      assert.equal(value(text, 'svc_transfers_active{direction="in"}'), 0)
      assert.equal(value(text, 'svc_transfers_active{direction="out"}'), 0)
    })

    it('have no label that a caller could fill', async () => {
      const odd = 'zzz-odd-zzz'
      for (const path of [`/${odd}`, `/api/v1/repositories/${odd}`, `${raw}/${odd}`, `/health/live?${odd}`])
        for (const method of ['GET', 'PUT', 'TRACE', 'PROPFIND'])
          await service.ask({ method, path, credential: owner.token, headers: { 'user-agent': odd } })
      await service.ask({ path: '/api/v1/auth/login', json: { name: odd, password: odd } })
      const text = await metrics()
      for (const private_ of [odd, owner.id, owner.name, owner.token, 'releases'])
        assert.ok(!text.includes(private_), private_)
      const routes = new Set([...catalogue().map(shownPath), 'unknown'])
      for (const [, name = '', labels = ''] of text.matchAll(/^(svc_[a-z_]+)\{(.*)\} /gm))
        for (const [, label = '', content = ''] of labels.matchAll(/([a-z_]+)="([^"]*)"/g)) {
          assert.ok(
            [
              'route',
              'method',
              'status_class',
              'direction',
              'le',
              'of',
              'outcome',
              'reason',
              'code',
              'severity',
            ].includes(label),
            `${name} ${label}`,
          )
          if (label === 'route') assert.ok(routes.has(content), content)
          if (label === 'status_class') assert.match(content, /^[1-5]xx$/)
        }
      assert.ok(routes.size > 10)
    })

    it('start from zero with the process, whose start they tell', async () => {
      const started = value(await metrics(), 'svc_process_start_time_seconds')
      const now = service.clock.now() / 1000
      assert.ok(started !== undefined && started <= now && started > now - 600, String(started))
      service.clock.advance(3600_000)
      await service.restart()
      const text = await metrics()
      assert.ok(Number(value(text, 'svc_process_start_time_seconds')) >= started + 3600)
      assert.equal(value(text, 'svc_transfer_bytes_total{direction="in"}'), 0)
      assert.ok(!text.includes('svc_http_requests_total{'))
    })
  })

  it('draining lets a transfer finish and answers 503 to everything else', async () => {
    const service = await startService(engine, { onDisk: true })
    const owner = await createOwner(service)
    const body = new PassThrough()
    const put = service.ask({ method: 'PUT', path: `${raw}/late`, credential: owner.token, body })
    body.write('first half, ')
    await until('the transfer is under way', async () => {
      const { json } = await service.ask({ path: '/health/ready', credential: service.healthKey })
      return json.transfers.uploads.admission.active === 1
    })
    const stopped = service.stop()
    const draining = (told: Told): boolean => {
      assert.equal(told.status, 503, told.text)
      assert.ok(Number(told.headers['retry-after']) >= 1)
      return true
    }
    const status = await service.ask({ path: '/health/status' })
    assert.ok(draining(status))
    assert.deepEqual(status.json, { status: 'draining' })
    assert.equal(status.headers.connection, 'close')
    for (const request of [
      { path: '/health/ready', credential: service.healthKey },
      { path: '/api/v1/auth/me', credential: owner.token },
      { path: '/api/v1/auth/me' },
      { path: '/api/v1/auth/login', json: { name: owner.name, password: owner.password } },
      { method: 'PUT', path: `${raw}/other`, credential: owner.token, body: 'x' },
    ]) {
      const told = await service.ask(request)
      assert.ok(draining(told))
      assert.equal(told.json.code, 'draining')
    }
    assert.equal((await service.ask({ path: '/health/live' })).status, 200)
    assert.equal((await service.ask({ path: '/health/metrics', credential: service.healthKey })).status, 200)
    body.end('second half')
    const told = await put
    assert.equal(told.status, 201, told.text)
    assert.equal(told.json.artifact.size, '23')
    await stopped
    await assert.rejects(service.ask({ path: '/health/live' }), /ECONNREFUSED|socket hang up|ECONNRESET/)
  })
})

onPostgres((engine) => {
  describe('without its database', () => {
    let server: PostgresServer
    let service: TestService
    let owner: Person
    before(async () => {
      server = await startPostgres()
      service = await startService({ ...engine, readyDatabaseUrl: () => server.createDatabase() })
      owner = await createOwner(service)
    })
    after(async () => {
      await service.stop()
      await server.stop()
    })

    it('answers 503 unavailable to what needs it, stays alive, and recovers by itself', async () => {
      await server.halt()
      await assertAway(service, /database/)
      for (const request of [
        { path: '/api/v1/auth/me', credential: owner.token },
        { path: '/api/v1/auth/login', json: { name: owner.name, password: owner.password } },
        { path: '/api/v1/users', credential: service.recoveryKey, json: { name: 'nobody', password: owner.password } },
        { method: 'PUT', path: `${raw}/x`, credential: service.recoveryKey, body: 'bytes' },
      ]) {
        const told = await service.ask(request)
        assert.deepEqual([told.status, told.json.code], [503, 'unavailable'], told.text)
        assert.ok(!/postgres|127\.0\.0\.1|ECONN/.test(told.text), told.text)
      }
      await server.start()
      await untilReady(service)
      await until('sessions are known again', async () => {
        return (await service.ask({ path: '/api/v1/auth/me', credential: owner.token })).status === 200
      })
    })

    it('outlives every connection being cut', async () => {
      const admin = new Client({ connectionString: server.url })
      await admin.connect()
      try {
        const name = new URL(service.databaseUrl).pathname.slice(1)
        await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
      } finally {
        await admin.end()
      }
      await until('requests are served again', async () => {
        const told = await service.ask({ path: '/api/v1/auth/me', credential: owner.token })
        assert.ok(told.status === 200 || told.status === 503, told.text)
        return told.status === 200
      })
    })
  })
})

onSqlite((engine) => {
  it('goes on reading, and stays ready, while somebody else holds the lock of the database file', async () => {
    const service = await startService(engine, { onDisk: true, roles: { gateway: 'api', worker: false } })
    try {
      const owner = await createOwner(service)
      const other = new DatabaseSync(service.databaseUrl.slice('sqlite:'.length))
      let told: Promise<Told>
      try {
        other.exec('begin immediate')
        const json = { name: 'patient', password: owner.password }
        told = service.ask({ path: '/api/v1/users', credential: service.recoveryKey, json })
        service.clock.advance(1000)
        assert.equal((await service.ask({ path: '/health/status' })).status, 200)
        assert.equal((await service.ask({ path: '/api/v1/auth/me', credential: owner.token })).status, 200)
        other.exec('rollback')
      } finally {
        other.close()
      }
      const { status, text } = await told
      assert.equal(status, 201, text)
    } finally {
      await service.stop()
    }
  })
})
