import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, it } from 'node:test'
import { changesWaitingPerCallerMax, changesWaitMaxSeconds } from '../../src/kernel/limits/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { openConnection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

forEachEngine((engine) => {
  let service: TestService
  /** A read gateway on the same data. */
  let beside: TestService
  let writer: Person
  let reader: Person
  let repository = ''
  let base = ''

  before(async () => {
    service = await startService(engine, { roles: { gateway: 'api', worker: false } })
    beside = await startService(engine, { on: service, roles: { gateway: 'reader', worker: false } })
    await createOwner(service)
    writer = await createPerson(service, 'writer')
    reader = await createPerson(service, 'reader')
  })
  after(async () => {
    await beside.stop()
    await service.stop()
  })
  afterEach(() => until('nobody waits', async () => (await waiting(service)) + (await waiting(beside)) === 0))

  const waiting = async (at: TestService): Promise<number> => {
    const { text } = await at.ask({ path: '/health/metrics', credential: service.healthKey })
    return Number(/^svc_changes_waiting (\d+)$/m.exec(text)?.[1])
  }
  const freshRepository = async (): Promise<void> => {
    repository = `feed-${randomUUID()}`
    base = `/api/v1/repositories/${repository}`
    await createRepository(service, repository)
    await grant(service, writer, repository, 'write')
    await grant(service, reader, repository, 'read')
  }
  const ask = (query: Record<string, string | number> = {}, at = service, credential = reader.token): Promise<Told> => {
    const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
    return at.ask({ path: `${base}/changes?${text}`, credential })
  }
  const answered = async (told: Promise<Told>, status = 200, code?: string): Promise<Told['json']> => {
    const { status: seen, json, text } = await told
    assert.deepEqual([seen, code === undefined ? undefined : json.code], [status, code], text)
    return json
  }
  const put = async (path: string, body: string): Promise<string> => {
    const told = await service.ask({ method: 'PUT', path: `${base}/raw/${path}`, credential: writer.token, body })
    assert.equal(told.status, 201, told.text)
    return told.json.artifact.id
  }
  const sequences = (page: Told['json']): number[] =>
    page.items.map(({ sequence }: { sequence: string }) => Number(sequence))

  describe('the change feed', () => {
    it('tells each change with its path and without its author, and where to go on', async () => {
      await freshRepository()
      assert.deepEqual(await answered(ask()), { items: [], next: '0', head: '0' })
      assert.deepEqual(await answered(ask({ after: 0 })), { items: [], next: '0', head: '0' })
      const id = await publish(service, writer.token, repository, newFile('one', 'one'))
      const path = 'Ordner/ü %_😀'
      const credential = writer.token
      const json = { path, artifactId: id, expectedRevision: 0 }
      assert.equal((await service.ask({ method: 'PUT', path: `${base}/asset`, credential, json })).status, 200)
      const back = { path, sourceRevision: 1, expectedRevision: 1 }
      assert.equal((await service.ask({ path: `${base}/asset/restore`, credential, json: back })).status, 200)
      const change = (sequence: number, action: string, detail: string | null) => ({
        id: `${repository}:${sequence}`,
        repository,
        sequence: String(sequence),
        action,
        artifactId: id,
        detail,
      })
      const all = [
        change(1, 'artifact.publish', null),
        change(2, 'asset.replace', path),
        change(3, 'asset.restore', path),
      ]
      assert.deepEqual(await answered(ask()), { items: all, next: '3', head: '3' })
      assert.deepEqual(await answered(ask({ after: 1, limit: 1 })), { items: all.slice(1, 2), next: '2', head: '3' })
      assert.deepEqual(await answered(ask({ after: 3 })), { items: [], next: '3', head: '3' })
      assert.deepEqual(await answered(ask({ after: 0 }, beside)), { items: all, next: '3', head: '3' })
    })

    it('shows no detail that is neither path nor stage', async () => {
      await freshRepository()
      const id = await put('a', 'a')
      await inDatabase(service, async (q) => {
        await q.updateTable('repositories').set({ journal_head: 3 }).where('id', '=', repository).execute()
        const line = { repository, artifact_id: id, actor: 'system:reclaim', occurred_at: new Date().toISOString() }
        await q
          .insertInto('journal')
          .values({ ...line, sequence: 3, action: 'bytes.reclaim', detail: '{"sha256":"…"}' })
          .execute()
      })
      const { items } = await answered(ask({ after: 2 }))
      assert.deepEqual([items[0].action, items[0].detail], ['bytes.reclaim', null])
    })

    it('is gone through in pages of any size without gaps or repeats', async () => {
      await freshRepository()
      for (let index = 0; index < 12; index++) await put(`p${index}`, `${index}`)
      for (const limit of [1, 5, 24, 100]) {
        const found: number[] = []
        let next: string | undefined
        do {
          const page: Told['json'] = await answered(ask({ limit, ...(next === undefined ? {} : { after: next }) }))
          assert.ok(page.items.length <= limit)
          assert.equal(page.head, '24')
          found.push(...sequences(page))
          next = page.next
        } while (next !== '24')
        assert.deepEqual(
          found,
          Array.from({ length: 24 }, (_, index) => index + 1),
        )
      }
    })

    it('refuses a cursor that would skip what is no longer kept, and says how to go on', async () => {
      await freshRepository()
      for (let index = 0; index < 3; index++) await put(`p${index}`, `${index}`)
      await inDatabase(service, (q) =>
        q.deleteFrom('journal').where('repository', '=', repository).where('sequence', '<=', 4).execute(),
      )
      for (const after of [0, 1, 3]) {
        const { detail } = await answered(ask({ after }), 409, 'cursor_lost')
        assert.match(detail, new RegExp(`Changes ${after + 1} to 4 .*after=6`))
        await answered(ask({ after, wait: 30 }), 409, 'cursor_lost')
      }
      assert.deepEqual(sequences(await answered(ask({ after: 4 }))), [5, 6])
      assert.deepEqual(sequences(await answered(ask())), [5, 6])
      await inDatabase(service, (q) => q.deleteFrom('journal').where('repository', '=', repository).execute())
      await answered(ask({ after: 5 }), 409, 'cursor_lost')
      for (const query of [{}, { after: 6 }])
        assert.deepEqual(await answered(ask(query)), { items: [], next: '6', head: '6' })
      await put('more', 'more')
      assert.deepEqual(sequences(await answered(ask({ after: 6 }))), [7, 8])
    })

    it('refuses a cursor from beyond the last change', async () => {
      await freshRepository()
      await put('a', 'a')
      for (const after of ['3', '999999999999999'])
        assert.match((await answered(ask({ after, wait: 30 }), 409, 'cursor_lost')).detail, /the last one is 2/)
    })

    it('points at what is wrong in the question', async () => {
      await freshRepository()
      const wrong = {
        after: ['', '-1', '01', 'x', '1.5', '1e3', '9'.repeat(16)],
        limit: ['0', '101', 'x', '', '1.5'],
        wait: ['-1', String(changesWaitMaxSeconds + 1), '0.5', 'x', ''],
      }
      for (const [name, values] of Object.entries(wrong))
        for (const value of values) {
          const { details } = await answered(ask({ [name]: value }), 400, 'invalid_request')
          assert.deepEqual(
            details.map(({ pointer }: { pointer: string }) => pointer),
            [`/query/${name}`],
          )
        }
      await answered(ask({ more: 1 }), 400, 'invalid_request')
    })

    it('needs artifact.list, and is nowhere for who may not see the repository', async () => {
      await freshRepository()
      const stranger = await createPerson(service, `stranger-${randomUUID().slice(0, 8)}`)
      await answered(ask({}, service, stranger.token), 404, 'not_found')
      const keyWith = async (...actions: Parameters<typeof binding> extends [string, ...infer A] ? A : never) => {
        const bindings = [binding(repository, ...actions)]
        return (await activeKey(service, (await createServiceAccount(service, bindings)).id, { bindings })).secret
      }
      await answered(ask({}, service, await keyWith('repository.read', 'audit.read')), 403, 'permission_missing')
      await answered(ask({}, service, await keyWith('artifact.list')))
    })
  })

  describe('waiting for a change', () => {
    const waits = (count: number, at = service): Promise<unknown> =>
      until(`${count} requests wait`, async () => (await waiting(at)) === count)

    it('ends with the change, in every process', async () => {
      await freshRepository()
      const here = ask({ after: 0, wait: 30 })
      const there = ask({ wait: 30 }, beside)
      await waits(1)
      await waits(1, beside)
      await put('a', 'a')
      for (const told of [here, there]) {
        const page = await answered(told)
        // Publishing and the path are one transaction: both lines, or none.
        assert.deepEqual([sequences(page), page.next, page.head], [[1, 2], '2', '2'])
      }
    })

    it('is not needed where there is something already', async () => {
      await freshRepository()
      await put('a', 'a')
      assert.deepEqual(sequences(await answered(ask({ after: 1, wait: 30 }))), [2])
    })

    it('ends with an empty page when the time is up, however busy other repositories are', async () => {
      await freshRepository()
      const quiet = ask({ after: 0, wait: 1 })
      await waits(1)
      const before = base
      await freshRepository()
      await put('elsewhere', 'elsewhere')
      assert.notEqual(base, before)
      assert.deepEqual(await answered(quiet), { items: [], next: '0', head: '0' })
    })

    it('ends when the client goes away', async () => {
      await freshRepository()
      const connection = await openConnection(service.url)
      connection.send(
        `GET ${base}/changes?wait=30 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${reader.token}\r\n\r\n`,
      )
      await waits(1)
      connection.socket.destroy()
      await waits(0)
    })

    it('ends at once when the service stops', async () => {
      await freshRepository()
      const third = await startService(engine, { on: service, roles: { gateway: 'api', worker: false } })
      const told = ask({ after: 0, wait: 30 }, third)
      await waits(1, third)
      const stopped = third.stop()
      assert.deepEqual(await answered(told), { items: [], next: '0', head: '0' })
      await stopped
    })

    it('is refused beyond the limit of a caller, and others may still wait', async () => {
      await freshRepository()
      const request = `GET ${base}/changes?wait=30 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${reader.token}\r\n\r\n`
      const connections = await Promise.all(
        Array.from({ length: changesWaitingPerCallerMax }, () => openConnection(service.url)),
      )
      for (const connection of connections) connection.send(request)
      await waits(changesWaitingPerCallerMax)
      const { detail } = await answered(ask({ wait: 30 }), 503, 'busy')
      assert.match(detail, /ask again/)
      await answered(ask())
      const other = ask({ after: 0, wait: 30 }, service, writer.token)
      await waits(changesWaitingPerCallerMax + 1)
      await put('a', 'a')
      assert.deepEqual(sequences(await answered(other)), [1, 2])
      for (const connection of connections) {
        assert.match(await connection.until(/"head":"2"/), /^HTTP\/1.1 200/)
        connection.socket.destroy()
      }
    })
  })
})
