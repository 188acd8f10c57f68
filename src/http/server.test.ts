import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, describe, it, type TestContext } from 'node:test'
import Type from 'typebox'
import { openConnection } from '../../test/harness/connection.ts'
import { answers, defineOperation, jsonBody } from '../contract/define.ts'
import { handle } from '../contract/handler.ts'
import { fields } from '../contract/schemas.ts'
import { jsonBodyDeadlineMs, lingerIdleMs, textAnswerMs, unreadBytesMax } from '../kernel/limits/http.ts'
import { drainMs } from '../kernel/limits/process.ts'
import { realTimers } from '../kernel/timers.ts'
import { createUploadLine } from './body/upload-line.ts'
import { createMetrics } from './metrics/metrics.ts'
import { createBudget } from './pipeline/budget.ts'
import { createHttpServer, type HttpServer } from './server.ts'

const say = defineOperation({
  id: 'say',
  method: 'POST',
  path: '/say',
  summary: 'Say',
  surface: 'discovery',
  visibility: 'public',
  access: { kind: 'anyone', reason: 'a test' },
  retry: 'idempotent',
  body: jsonBody(fields({ word: Type.String() })),
  responses: { 200: answers('Said', fields({ word: Type.String() })) },
})

const take = defineOperation({
  id: 'take',
  method: 'PUT',
  path: '/take',
  summary: 'Take',
  surface: 'transfers',
  visibility: 'public',
  access: { kind: 'anyone', reason: 'a test' },
  retry: 'idempotent',
  body: { kind: 'stream', mediaTypes: null },
  responses: { 200: answers('Taken', fields({ bytes: Type.Integer() })) },
})

const tell = defineOperation({
  id: 'tell',
  method: 'GET',
  path: '/tell',
  summary: 'Tell',
  surface: 'discovery',
  visibility: 'public',
  access: { kind: 'anyone', reason: 'a test' },
  retry: 'idempotent',
  responses: { 200: { description: 'A long text', schema: null, mediaType: 'text/plain' } },
})

/** Three of them are more than may be held for those who do not take theirs. */
const longText = 'x'.repeat(unreadBytesMax / 2.5)

/** Asks for the long text, and takes no more of it than it is told to. */
const askForLongText = async (url: string, first = () => {}) => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  let received = 0
  let wanted = 1
  let look = (): void => {}
  socket.on('data', (piece: Uint8Array) => {
    received += piece.byteLength
    if (received >= wanted) socket.pause()
    look()
  })
  /** Resolves when so much has come in all. */
  const take = (bytes: number): Promise<void> =>
    new Promise((resolve) => {
      wanted = bytes
      look = () => {
        if (received >= wanted) resolve()
      }
      socket.resume()
    })
  const closed = once(socket, 'close')
  /** What has not come when the connection ended. */
  const lacking = async (): Promise<number> => {
    wanted = Number.POSITIVE_INFINITY
    socket.resume()
    await closed
    return longText.length - received
  }
  socket.write('GET /none HTTP/1.1\r\nHost: a\r\n\r\n')
  await take(1)
  first()
  socket.write('GET /tell HTTP/1.1\r\nHost: a\r\n\r\n')
  // The other answer is shorter.
  await take(10_000)
  return { take, lacking, leave: () => void socket.destroy() }
}

describe('the server', () => {
  const servers: HttpServer[] = []
  after(() => Promise.all(servers.map((server) => server.close())))

  /**
   * A server of two operations. `admitted` resolves at the next request that was let in; `bugs` are what nobody named.
   */
  const scene = async (t: TestContext) => {
    const bugs: unknown[] = []
    const performed: string[] = []
    let admit = (): void => {}
    const server = await createHttpServer({
      operations: [
        handle(say, async ({ body }) => {
          performed.push(body.word)
          if (body.word === 'bug') throw new Error('a secret detail')
          return { status: 200, json: { word: body.word } }
        }),
        handle(take, async ({ body }) => {
          let bytes = 0
          for await (const piece of body.pieces) bytes += piece.byteLength
          performed.push(`took ${bytes}`)
          return { status: 200, json: { bytes } }
        }),
        handle(tell, async () => ({ status: 200, text: longText, headers: {} })),
      ],
      gate: {
        authenticate: () => Promise.reject(new Error('nobody signs in here')),
        authenticateLink: () => Promise.reject(new Error('nobody signs in here')),
        authorizeAlso: async () => {},
        admission: () => ({}),
        authorize: async () => setImmediate(() => admit()) && undefined,
      },
      wires: [],
      metrics: createMetrics(0),
      uploads: createUploadLine(realTimers, () => {}),
      forwardedByStranger: () => {},
      budget: createBudget(1_000, () => 0),
      readOnly: false,
      trustedProxies: [],
      baseUrl: null,
      onLoopback: false,
      corsOrigins: new Set(),
      uploadDeadlineSeconds: 600,
      reportBug: (error) => bugs.push(error),
      translate: () => null,
      settled: async () => {},
      requestOver: () => {},
    })
    servers.push(server)
    const url = await server.listen('127.0.0.1', 0)
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const admitted = (): Promise<void> =>
      new Promise((resolve) => {
        admit = resolve
      })
    return { server, url, bugs, performed, admitted, timers: t.mock.timers }
  }

  it('gives up a JSON body that does not come, says so, and does nothing when the rest comes late', async (t) => {
    const { url, performed, admitted, timers } = await scene(t)
    const connection = await openConnection(url)
    const letIn = admitted()
    const head = 'POST /say HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n'
    connection.send(`${head}{"word":`)
    await letIn
    timers.tick(jsonBodyDeadlineMs)
    const answer = await connection.until(/upload_deadline/)
    assert.match(answer, /^HTTP\/1\.1 408 /)
    assert.match(answer, /^connection: close$/im)
    connection.send('"late!"}')
    timers.tick(lingerIdleMs)
    await connection.ended()
    assert.deepEqual(performed, [])
  })

  it('waits for a transfer when it closes, but not for ever', async (t) => {
    const { server, url, performed, admitted, timers } = await scene(t)
    const connection = await openConnection(url)
    const letIn = admitted()
    connection.send('PUT /take HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf')
    await letIn
    let closed = false
    const closing = server.close().then(() => {
      closed = true
    })
    const other = await openConnection(url)
    other.send('POST /say HTTP/1.1\r\nHost: a\r\n\r\n')
    assert.match(await other.ended(), /503 Service Unavailable[\s\S]*"draining"/)
    assert.equal(closed, false)
    timers.tick(drainMs)
    await connection.ended()
    await closing
    assert.deepEqual(performed, [])
    servers.splice(servers.indexOf(server), 1)
  })

  it('gives up an answer that is not taken whole in time, however the client takes it', async (t) => {
    const { url, timers } = await scene(t)
    // Of the connection, whose own clocks would be sooner, real time goes on.
    timers.reset()
    const client = await askForLongText(url, () => timers.enable({ apis: ['setTimeout'] }))
    timers.tick(textAnswerMs - 1)
    await client.take(longText.length / 4)
    timers.tick(1)
    timers.reset()
    assert.ok((await client.lacking()) > 0)
  })

  it('gives up the oldest of the answers that are not taken when they are more than it can hold', async (t) => {
    const { url } = await scene(t)
    const [first, second, third] = [await askForLongText(url), await askForLongText(url), await askForLongText(url)]
    assert.ok((await first.lacking()) > 0)
    for (const other of [second, third]) {
      await other.take(longText.length)
      other.leave()
    }
  })

  const sayHead = 'POST /say HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
  const hello = `${sayHead}Content-Length: 16\r\n\r\n{"word":"hello"}`
  const statuses = (received: string): string[] =>
    [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status ?? '')

  it('answers a malformed body behind another request, which it does not begin, after the answer before it', async (t) => {
    const { url, performed } = await scene(t)
    const connection = await openConnection(url)
    const taken = 'PUT /take HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nwhole'
    const half = 'PUT /take HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n'
    connection.send(`${taken}${hello}${half}`)
    const received = await connection.until(/invalid_request/)
    assert.deepEqual(statuses(received), ['200', '200', '400'])
    assert.deepEqual(performed, ['took 5', 'hello'])
  })

  it('refuses CONNECT after the answer before it, and alone', async (t) => {
    const { server, url, timers } = await scene(t)
    timers.reset()
    const tunnel = 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'
    for (const [before, told] of [
      ['', ['405']],
      [hello, ['200', '405']],
    ] as const) {
      const connection = await openConnection(url)
      connection.send(`${before}${tunnel}${hello}`)
      const received = await connection.until(/"method_not_allowed"[\s\S]*}$/)
      assert.deepEqual(statuses(received), told)
      assert.match(received, /^allow: GET, [\s\S]*^connection: close$/im)
      connection.send(hello)
      connection.socket.end()
      assert.equal(await connection.ended(), received, 'nothing after it is answered')
    }
    const gone = await openConnection(url)
    gone.send(`GET /tell HTTP/1.1\r\nHost: a\r\n\r\n${tunnel}`)
    gone.socket.once('data', () => gone.socket.resetAndDestroy())
    await gone.ended()
    await server.close()
    servers.splice(servers.indexOf(server), 1)
  })

  it('hides what a fault of ours says, and reports it once', async (t) => {
    const { url, bugs } = await scene(t)
    const connection = await openConnection(url)
    const json = '{"word":"bug"}'
    connection.send(
      `POST /say HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
    )
    const answer = await connection.ended()
    assert.match(answer, /^HTTP\/1\.1 500 /)
    assert.match(answer, /"code":"internal"/)
    assert.ok(!answer.includes('a secret detail'))
    assert.equal(bugs.length, 1)
    assert.ok(bugs[0] instanceof Error && bugs[0].message === 'a secret detail')
  })
})
