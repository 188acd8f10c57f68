import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, afterEach, before, describe, it } from 'node:test'
import { connectionsPerNetworkMax } from '../../src/kernel/limits/http.ts'
import { closeConnections } from '../harness/client.ts'
import { onSqlite } from '../harness/engines.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const proxy = '127.0.0.3'
/** Half a request is none. */
const halfAHead = 'GET /health/live HTTP/1.1\r\n'
/** A request whose body never comes whole. */
const halfABody = (headers = ''): string =>
  `POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\n${headers}Content-Type: application/json\r\nContent-Length: 60\r\n\r\n{"name":`

onSqlite((engine) => {
  describe('very many connections of one address', () => {
    let service: TestService
    let sockets: Socket[] = []
    before(async () => {
      service = await startService(engine, { settings: { SVC_TRUSTED_PROXIES: proxy } })
    })
    afterEach(() => {
      for (const socket of sockets) socket.destroy()
      sockets = []
    })
    after(() => service.stop())

    const answerTo = async (localAddress: string, headers = {}): Promise<{ status?: number; text: string }> => {
      const asked = httpRequest(`${service.url}/api/v1/auth/me`, { localAddress, headers, agent: false }).end()
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      return { status: answer.statusCode ?? 0, text: await text(answer) }
    }

    const statusFrom = async (localAddress: string, headers = {}): Promise<number | undefined> =>
      (await answerTo(localAddress, headers)).status

    /** Opens so many, which send these in turn. Resolves when all of it is on its way; answers how many are closed. */
    const open = async (count: number, sent: readonly string[], localAddress: string): Promise<() => number> => {
      const { hostname: host, port } = new URL(service.url)
      let closed = 0
      for (let opened = 0; opened < count; opened++) {
        const socket = connect({ port: Number(port), host, localAddress })
        socket.on('error', () => {}).on('close', () => (closed += 1))
        socket.once('connect', () => socket.write(sent[opened % sent.length] ?? ''))
        sockets.push(socket)
        if (opened % 50 === 0) await once(socket, 'connect')
      }
      return () => closed
    }

    it('that do nothing, or send their requests without an end, make room for each other, and keep nobody from being served', async () => {
      const more = 40
      const closed = await open(connectionsPerNetworkMax + more, [halfAHead, halfABody()], '127.0.0.1')
      await until('those that came first are closed', () => closed() >= more)
      assert.equal(sockets.slice(0, 4 * more).filter((socket) => socket.closed).length, closed())
      assert.equal(await statusFrom('127.0.0.1'), 401)
      assert.equal(await statusFrom('127.0.0.2'), 401)
      assert.equal((await service.ask({ path: '/health/ready', credential: service.healthKey })).status, 200)
    })

    it('behind a proxy leave the others behind it their room', async () => {
      const one = { 'x-forwarded-for': '192.0.2.1' }
      assert.equal(await statusFrom(proxy, one), 401)
      const closed = await open(connectionsPerNetworkMax, [halfABody('X-Forwarded-For: 192.0.2.1\r\n')], proxy)
      const refused = await until('all are under way', async () => {
        const answer = await answerTo(proxy, one)
        return answer.status === 503 && answer
      })
      assert.match(refused.text, /"code":"busy"/)
      assert.match(refused.text, /Too many requests of your network are under way/)
      assert.equal(await statusFrom(proxy, { 'x-forwarded-for': '192.0.2.2' }), 401)
      assert.equal(await statusFrom(proxy), 401, 'whose requests it does not say')
      assert.equal(closed(), 0)
    })
  })
})
