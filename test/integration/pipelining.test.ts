import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { pipelinedWaitingMax } from '../../src/kernel/limits/http.ts'
import { MiB } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { openConnection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const repository = '/api/v1/repositories/releases'
const raw = `${repository}/raw`

forEachEngine((engine) => {
  describe('requests that are sent ahead', () => {
    let service: TestService
    let owner: Person
    const big = randomBytes(3 * MiB)
    before(async () => {
      service = await startService(engine)
      owner = await createOwner(service)
      const put = await service.ask({ method: 'PUT', path: `${raw}/big`, credential: owner.token, body: big })
      assert.equal(put.status, 201)
    })
    after(() => service.stop())

    const request = (method: string, path: string, more = ''): string =>
      `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${owner.token}\r\n${more}\r\n`

    it('are answered in their order, also more of them than may wait: what waits is what came in one packet', async () => {
      const connection = await openConnection(service.url)
      const count = pipelinedWaitingMax + 1_000
      const { json } = await service.ask({ path: `${repository}/changes`, credential: owner.token })
      // The first waits for a change; as long as it does, the others have to stay where they are.
      connection.send(request('GET', `${repository}/changes?wait=30&after=${json.head}`))
      const nothing = (n: number, more = ''): string => `GET /nothing/${n} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`
      connection.send(Array.from({ length: count - 1 }, (_, n) => nothing(n + 1)).join(''))
      connection.send(nothing(count, 'Connection: close\r\n'))
      await until('the first one is served', async () =>
        (await service.ask({ path: '/health/metrics', credential: service.healthKey })).text.includes(
          'svc_changes_waiting 1',
        ),
      )
      const change = await service.ask({ method: 'PUT', path: `${raw}/change`, credential: owner.token, body: 'x' })
      assert.equal(change.status, 201)
      const received = await connection.ended()
      const told = [...received.matchAll(/There is no \\"\/nothing\/(\d+)\\"/g)].map(([, n]) => Number(n))
      assert.deepEqual(
        told,
        Array.from({ length: count }, (_, n) => n + 1),
      )
      assert.match(received, /^HTTP\/1\.1 200 OK[\s\S]*?"artifactId"/)
    })

    it('downloads and uploads behind other answers get their bodies', async () => {
      const connection = await openConnection(service.url)
      const small = 'the body of an upload'
      connection.send(
        [
          request('GET', `${raw}/big`),
          request('GET', `${raw}/big`, 'Range: bytes=5-2000004\r\n'),
          request('PUT', `${raw}/small`, `Content-Length: ${small.length}\r\n`) + small,
          request('GET', `${raw}/small`),
          request('GET', `${raw}/big`, 'Connection: close\r\n'),
          request('GET', `${raw}/never`),
        ].join(''),
      )
      let rest = await connection.ended()
      const next = (): { status: number; body: Buffer } => {
        const end = rest.indexOf('\r\n\r\n') + 4
        const head = rest.slice(0, end)
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1])
        const body = Buffer.from(rest.slice(end, end + length), 'latin1')
        rest = rest.slice(end + length)
        return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), body }
      }
      const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
      const answers = [next(), next(), next(), next(), next()]
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 206, 201, 200, 200],
      )
      assert.deepEqual(
        [0, 1, 3, 4].map((n) => digest(answers[n]?.body ?? big)),
        [big, big.subarray(5, 2_000_005), Buffer.from(small), big].map(digest),
      )
      assert.equal(rest, '', 'what came after a last request is not answered')
    })

    it('whose body is malformed are refused at once, after the answer before them', async () => {
      const connection = await openConnection(service.url)
      connection.send(
        request('PUT', `${raw}/before`, 'Content-Length: 5\r\n') +
          'whole' +
          request('PUT', `${raw}/malformed`, 'Transfer-Encoding: chunked\r\n') +
          '5\r\nhello\r\nzz\r\n',
      )
      const received = await connection.ended()
      assert.match(received, /^HTTP\/1\.1 201 [\s\S]*HTTP\/1\.1 400 [\s\S]*"invalid_request"/)
    })

    it('end with one that asks for a tunnel: it is refused behind downloads that the client takes late', async () => {
      const connection = await openConnection(service.url)
      connection.socket.pause()
      connection.send(`${request('GET', `${raw}/big`).repeat(4)}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`)
      // Takes as long as the server needs to find that what it sends is not taken.
      const other = await service.ask({ path: `${raw}/big`, credential: owner.token })
      assert.equal(other.status, 200)
      connection.socket.resume()
      const received = await connection.ended()
      assert.ok(received.length > 4 * big.byteLength)
      assert.match(received.slice(-2_000), /HTTP\/1\.1 405 [\s\S]*"method_not_allowed"/)
    })
  })
})
