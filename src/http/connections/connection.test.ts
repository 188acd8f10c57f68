import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { after, describe, it } from 'node:test'
import { type Connection as Client, openConnection } from '../../../test/harness/connection.ts'
import { until } from '../../../test/harness/until.ts'
import { connectionIdleMs, takingLooks } from '../../kernel/limits/http.ts'
import { MiB } from '../../kernel/units.ts'
import { VirtualTime } from '../../kernel/virtual-time.suite.ts'
import { exchangeOf } from '../pipeline/exchange.ts'
import { Connection } from './connection.ts'
import { Crowd } from './crowd.ts'
import { Lingering } from './lingering.ts'
import { Proxied } from './proxied.ts'

const lookMs = connectionIdleMs / takingLooks
const question = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

describe('a connection', () => {
  const servers: { close(): void; closeAllConnections(): void }[] = []
  after(() => {
    for (const server of servers) {
      server.close()
      server.closeAllConnections()
    }
  })

  /**
   * A connection to a server whose answers the test gives, and whose time it lets pass. Connections come from these
   * networks in turn, null for a proxy; more of one network have to make room for each other.
   */
  const scene = async (...networks: readonly (string | null)[]) => {
    const responses: ServerResponse[] = []
    const connections = new Map<Duplex, Connection>()
    const time = new VirtualTime()
    const crowd = new Crowd({ most: 40, perNetwork: 1, reserved: 20, momentMs: 0 }, time)
    const deps = {
      crowd,
      lingering: new Lingering(),
      proxied: new Proxied(2),
      networkBehind: () => 'behind',
      timers: time,
      serve: (_: unknown, response: ServerResponse) => void responses.push(response),
      report: assert.ifError,
    }
    const server = createServer((request, response) => connections.get(request.socket)?.arrive(request, response))
    servers.push(server)
    server.on('clientError', (_, socket) => connections.get(socket)?.giveUp('the last words'))
    server.on('connection', (socket) =>
      connections.set(socket, new Connection(socket, networks[connections.size] ?? null, deps)),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    assert.ok(typeof address === 'object' && address !== null)
    const open = () => openConnection(`http://127.0.0.1:${address.port}`)
    const client = await open()
    const connection = await until('it is here', () => [...connections.values()][0])
    const served = (): Promise<ServerResponse> => until('a request is served', () => responses.shift())
    const asked = (): Promise<ServerResponse> => {
      client.send(question)
      return served()
    }
    return { client, connection, crowd, asked, served, open, time }
  }

  it('goes on while we are waited for, and ends when nothing is asked', async () => {
    const { client, connection, crowd, asked, time } = await scene('here', 'here')
    const response = await asked()
    connection.quiet()
    time.pass(10 * connectionIdleMs)
    response.write('so far')
    await client.until(/so far/)
    connection.quiet()
    time.pass(10 * connectionIdleMs)
    response.end('done')
    await client.until(/done/)
    await until('it rests', () => response.closed)
    connection.quiet()
    await client.ended()
    assert.equal(crowd.count, 0)
  })

  it('is ended when the client takes nothing of its answer, whatever it sends meanwhile', async () => {
    const { client, crowd, asked, time } = await scene('here', 'here')
    client.socket.pause()
    const response = await asked()
    response.end(Buffer.alloc(64 * MiB))
    for (let look = 0; look < takingLooks; look++) {
      time.pass(lookMs)
      assert.equal(crowd.count, 1)
      const before = response.socket?.bytesRead ?? 0
      client.send('\r\n')
      await until('it has come', () => (response.socket?.bytesRead ?? 0) > before)
    }
    time.pass(lookMs)
    await until('nothing is left of it', () => crowd.count === 0)
  })

  it('goes on as long as the client takes a part of a piece now and then', async () => {
    const { client, crowd, asked, time } = await scene('here', 'here')
    client.socket.pause()
    const response = await asked()
    let whole = false
    response.end(Buffer.alloc(128 * MiB), () => {
      whole = true
    })
    const handle: unknown = Reflect.get(response.socket ?? {}, '_handle')
    assert.ok(typeof handle === 'object' && handle !== null)
    const left = (): number => Number(Reflect.get(handle, 'writeQueueSize'))
    for (let round = 0; round < 4; round++) {
      time.pass(connectionIdleMs)
      const before = left()
      client.socket.resume()
      await until('the kernel took some', () => left() < before - MiB)
      client.socket.pause()
    }
    assert.equal(whole, false, 'it is a piece that was not taken whole')
    assert.equal(crowd.count, 1)
    time.pass(connectionIdleMs + lookMs)
    await until('it ends when nothing is taken any more', () => crowd.count === 0)
  })

  it('makes room while its client is waited for, to send what is no file or to take an answer that is whole', async () => {
    const half = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf'
    const sending = await scene('here', 'here')
    sending.client.send(half)
    await sending.served()
    const file = await scene('here', 'here')
    file.client.send(half)
    exchangeOf({ raw: (await file.served()).req }).receivesFile = true
    const taking = await scene('here', 'here')
    taking.client.socket.pause()
    const response = await taking.asked()
    response.end(Buffer.alloc(64 * MiB))
    const pieces = await scene('here', 'here')
    pieces.client.socket.pause()
    const more = await pieces.asked()
    more.write(Buffer.alloc(64 * MiB))
    for (const { open } of [sending, file, taking, pieces]) await open()
    await until('two made room', () => sending.client.socket.closed && response.closed)
    for (const { crowd } of [file, pieces]) await until('both are there', () => crowd.count === 2)
    assert.deepEqual([file.client.socket.closed, more.closed], [false, false])
  })

  it('ends when more requests wait than may, if it is the oldest of the network that has most of them', async () => {
    const loud = Array.from({ length: 10 }, () => 'loud')
    const { client, asked, open, served } = await scene('quiet', ...loud)
    await asked()
    client.send(question + question)
    const ahead = question.repeat(Math.floor(65_536 / question.length))
    const clients: Client[] = []
    for (const _ of loud) {
      const other = await open()
      clients.push(other)
      other.send(question)
      await served()
      other.send(ahead)
    }
    const [first] = clients
    await until('the first of them is ended', () => first?.socket.closed)
    assert.equal(client.socket.closed, false)
    assert.equal(clients.filter(({ socket }) => socket.closed).length, 1)
    for (const each of [client, ...clients]) each.socket.destroy()
  })

  it('ends after an offer of another protocol, so that nobody waits for what came with it', async () => {
    const { client, served } = await scene('here', 'here')
    client.send(question.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n') + question)
    const response = await served()
    response.end('the answer')
    const received = await client.ended()
    assert.match(received, /^connection: close/im)
    assert.match(received, /the answer$/)
  })

  it('hears of its end while a request is under way behind which something came that is none, and begins none but whole ones', async () => {
    const half = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n'
    const { client, crowd, served } = await scene('here')
    client.send(question + question + half)
    const first = await served()
    first.end('the first')
    const second = await served()
    second.end('the second')
    assert.match(await client.until(/the last words/), /the first[\s\S]*the secondthe last words$/)
    client.socket.destroy()
    await until('it is gone', () => crowd.count === 0)
    const other = await scene('here')
    other.client.send(question + half)
    const response = await other.served()
    other.client.socket.resetAndDestroy()
    await until('it is gone', () => other.crowd.count === 0)
    assert.ok(response.destroyed)
  })

  it('by a proxy has a share of the requests under way for the network that it speaks for', async () => {
    const { client, asked, served, open } = await scene(null)
    const first = await asked()
    const others = [await open(), await open()]
    const shares = [first]
    for (const other of others) {
      other.send(question)
      shares.push(await served())
    }
    assert.deepEqual(
      shares.map(({ req }) => exchangeOf({ raw: req }).hasShare),
      [true, true, false],
    )
    first.end('done')
    await client.until(/done/)
    assert.equal(exchangeOf({ raw: (await asked()).req }).hasShare, true)
  })
})
