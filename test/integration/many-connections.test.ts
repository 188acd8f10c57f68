import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { connectionsPerNetworkMax } from '../../src/kernel/connection-limits.ts'
import { closeConnections } from '../harness/client.ts'
import { onSqlite } from '../harness/engines.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

onSqlite((engine) => {
  describe('very many connections of one address', () => {
    let service: TestService
    before(async () => {
      service = await startService(engine)
    })
    after(() => service.stop())

    const statusFrom = async (localAddress: string): Promise<number | undefined> => {
      const asked = httpRequest(`${service.url}/api/v1/auth/me`, { localAddress, agent: false }).end()
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      answer.resume()
      return answer.statusCode
    }

    it('that do nothing make room for each other, and keep nobody from being served', async () => {
      const { hostname, port } = new URL(service.url)
      const sockets: Socket[] = []
      const more = 40
      let closed = 0
      for (let count = 0; count < connectionsPerNetworkMax + more; count++) {
        const socket = connect(Number(port), hostname)
        socket.on('error', () => {}).on('close', () => (closed += 1))
        // Half a request is none.
        socket.once('connect', () => socket.write('GET /health/live HTTP/1.1\r\n'))
        sockets.push(socket)
        if (count % 50 === 0) await once(socket, 'connect')
      }
      await until('those that came first are closed', () => closed >= more)
      assert.ok(sockets.slice(0, more - 5).every((socket) => socket.closed))
      assert.equal(await statusFrom('127.0.0.1'), 401)
      assert.equal(await statusFrom('127.0.0.2'), 401)
      assert.equal((await service.ask({ path: '/health/ready', credential: service.healthKey })).status, 200)
      for (const socket of sockets) socket.destroy()
    })
  })
})
