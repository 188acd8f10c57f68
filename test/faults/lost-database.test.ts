import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import { examine } from '../harness/doctor.ts'
import { engineOn, onSqlite } from '../harness/engines.ts'
import { type PostgresServer, startPostgres } from '../harness/postgres.ts'
import { endProgramsAfterTests, runSvc, settingsFor, untilInOrder } from '../harness/processes.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts'
import {
  bytesOf,
  type Door,
  doors,
  type File,
  fetchBytes,
  fileOf,
  inChunks,
  inParts,
  published,
  rawPlace,
  type Target,
  throughSession,
} from './uploads.ts'

const clients = 4

endProgramsAfterTests()
after(closeConnections)

const clientOf = (service: TestService): Target => ({ url: service.url, credential: service.recoveryKey })

const assertUnavailable = ({ status, headers, text, json }: Told): void => {
  assert.equal(status, 503, text)
  assert.equal(json.code, 'unavailable')
  assert.ok(Number(headers['retry-after']) >= 1)
}

const everyDoor = [...doors, inParts]

describe('postgres', () => {
  let server: PostgresServer
  const engine = engineOn(() => server.createDatabase())
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.stop())

  describe('the database goes away under load and comes back', () => {
    let service: TestService
    before(async () => {
      service = await startService(engine)
    })
    after(() => service.stop())

    it('answers 503 meanwhile, loses nothing that was acknowledged, and recovers by itself', async () => {
      const to = clientOf(service)
      const acknowledged = new Map<string, Buffer>()
      const unknown: { door: Door; file: File }[] = []
      const refused: Told[] = []
      let stopping = false

      const upload = async (name: string): Promise<void> => {
        for (let count = 0; !stopping; count++) {
          const door = everyDoor[count % everyDoor.length] ?? inChunks
          const file = fileOf(`${name}/${count}`, bytesOf(`${name} ${count}`, 30_000 + count))
          const told = await door.send(to, file)
          if (told.status === 503) {
            assertUnavailable(told)
            refused.push(told)
            unknown.push({ door, file })
          } else {
            assert.ok(told.status === 200 || told.status === 201, told.text)
            acknowledged.set(door.place(file, told), file.bytes)
          }
        }
      }
      const uploading = Promise.all(Array.from({ length: clients }, (_, index) => upload(`client-${index}`)))
      await until('files are stored', () => acknowledged.size >= 20)
      await server.halt()
      await until('requests are refused', () => refused.length >= clients)
      const [some] = acknowledged.keys()
      assertUnavailable(await service.ask({ path: some ?? '', credential: service.recoveryKey }))
      assertUnavailable(await service.ask({ path: '/api/v1/repositories', credential: service.recoveryKey }))
      await server.start()
      const before = acknowledged.size
      await until('files are stored again', () => acknowledged.size >= before + 20)
      stopping = true
      await uploading

      // Reservations whose holders could not give them back lapse, and the clock of the upkeep goes on by itself.
      service.clock.advance(3_600_000)
      const settings = settingsFor(service)
      await until('the upkeep has run again', () =>
        inDatabase(service, async (q) => {
          const raw = await q.selectFrom('uploads').select('id').where('kind', '=', 'raw').executeTakeFirst()
          return raw === undefined
        }),
      )
      await untilInOrder(() => examine(settings))
      for (const [place, bytes] of acknowledged) assert.ok((await fetchBytes(to, place))?.equals(bytes), place)
      const names = new Set((await published(to)).map(({ sha256 }) => sha256))
      for (const { door, file } of unknown) {
        if (door !== throughSession && door !== inParts) {
          const found = await fetchBytes(to, rawPlace(file))
          assert.ok(names.has(file.sha256) ? found?.equals(file.bytes) : found === null, `${file.path} is half`)
        }
        const again = await door.send(to, file)
        assert.ok(again.status === 200 || again.status === 201, again.text)
        assert.ok((await fetchBytes(to, door.place(file, again)))?.equals(file.bytes))
      }
      await untilInOrder(() => examine(settings))
    })
  })

  describe('the news of a commit is lost', () => {
    let proxy: CuttingProxy
    let service: TestService
    let armed = false
    before(async () => {
      proxy = await startCuttingProxy(await server.createDatabase())
      service = await startService(
        { ...engine, readyDatabaseUrl: async () => proxy.url },
        {
          roles: { gateway: 'api', worker: false },
          reach: (point) => {
            if (point === 'publish.placed' && armed) proxy.loseNextCommit()
          },
        },
      )
    })
    afterEach(() => {
      armed = false
    })
    after(async () => {
      await service.stop()
      await proxy[Symbol.asyncDispose]()
    })

    for (const door of everyDoor) {
      it(`${door.name}: the answer is 503, the file is whole, stays, and can be sent again`, async () => {
        const to = clientOf(service)
        const file = fileOf(`lost/${door.name}`.replaceAll(' ', '-'), bytesOf(door.name, 50_000))
        const lostBefore = proxy.lost
        armed = true
        assertUnavailable(await door.send(to, file))
        armed = false
        assert.equal(proxy.lost, lostBefore + 1)

        // Upkeep with everything lapsed: what was published must not be taken for what was abandoned.
        service.clock.advance(3_600_000)
        const worker = await startService(engine, { on: service, roles: { gateway: null, worker: true } })
        try {
          await untilInOrder(() => examine(settingsFor(service)))
        } finally {
          await worker.stop()
        }
        const listed = (await published(to)).filter(({ sha256 }) => sha256 === file.sha256)
        assert.equal(listed.length, 1)
        const again = await door.send(to, file)
        assert.equal(again.status, 200, again.text)
        assert.ok((await fetchBytes(to, door.place(file, again)))?.equals(file.bytes))
        assert.deepEqual((await examine(settingsFor(service))).damage, [])
      })
    }
  })
})

onSqlite((engine) => {
  describe('commands beside a running service', () => {
    let service: TestService
    before(async () => {
      service = await startService(engine)
    })
    after(() => service.stop())

    it('change the same database while files are stored, and both stay correct', async () => {
      const to = clientOf(service)
      const settings = settingsFor(service)
      const acknowledged = new Map<string, Buffer>()
      let stopping = false
      const upload = async (door: Door): Promise<void> => {
        for (let count = 0; !stopping; count++) {
          const file = fileOf(`${door.name}/${count}`.replaceAll(' ', '-'), bytesOf(`${door.name} ${count}`, 5_000))
          const told = await door.send(to, file)
          assert.ok(told.status === 200 || told.status === 201, told.text)
          acknowledged.set(door.place(file, told), file.bytes)
        }
      }
      const uploading = Promise.all(everyDoor.map(upload))
      try {
        for (const id of ['one', 'two', 'three']) {
          const created = await runSvc(['repository', 'create', id], settings)
          assert.equal(created.code, 0, created.stderr)
          const seen = await service.ask({ path: `/api/v1/repositories/${id}`, credential: service.recoveryKey })
          // The recovery key writes to `releases` only: what it may not see does not exist.
          assert.equal(seen.status, 404)
        }
        const twice = await runSvc(['repository', 'create', 'two'], settings)
        assert.deepEqual([twice.code, twice.stdout], [1, ''])
        const deleted = await runSvc(['repository', 'delete', 'three'], settings)
        assert.equal(deleted.code, 0, deleted.stderr)
      } finally {
        stopping = true
        await uploading
      }
      const list = await runSvc(['repository', 'list'], settings)
      assert.deepEqual(
        list.stdout
          .trim()
          .split('\n')
          .map((line) => line.split('\t')[0]),
        ['one', 'releases', 'two'],
      )
      const bytes = (await published(to)).reduce((sum, { size }) => sum + size, 0)
      assert.match(list.stdout, new RegExp(`^releases\tpublished ${bytes}\tpending 0\tretired 0$`, 'm'))
      assert.ok(acknowledged.size > 10)
      for (const [place, stored] of acknowledged) assert.ok((await fetchBytes(to, place))?.equals(stored), place)
      const made = await service.ask({
        method: 'POST',
        path: '/api/v1/repositories',
        credential: service.recoveryKey,
        json: { id: 'one' },
      })
      assert.deepEqual([made.status, made.json.code], [409, 'already_exists'])
      await untilInOrder(() => examine(settings))
    })
  })
})
