import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import { after, describe, it } from 'node:test'
import { openConnection } from '../../test/harness/connection.ts'
import { until } from '../../test/harness/until.ts'
import { Connection } from './connection.ts'
import { Crowd } from './crowd.ts'
import { Lingering } from './lingering.ts'

describe('a connection on which nothing moves', () => {
  const servers: { close(): void; closeAllConnections(): void }[] = []
  after(() => {
    for (const server of servers) {
      server.close()
      server.closeAllConnections()
    }
  })

  /** A connection to a server whose answers the test gives. */
  const scene = async () => {
    const responses: ServerResponse[] = []
    const connections: Connection[] = []
    const crowd = new Crowd({ most: 10, perNetwork: 10, reserved: 1 })
    const parts = {
      crowd,
      lingering: new Lingering(),
      serve: (_: unknown, response: ServerResponse) => void responses.push(response),
      report: assert.ifError,
    }
    const server = createServer((request, response) => connections[0]?.arrive(request, response))
    servers.push(server)
    server.on('connection', (socket) => connections.push(new Connection(socket, 'here', parts)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    assert.ok(typeof address === 'object' && address !== null)
    const client = await openConnection(`http://127.0.0.1:${address.port}`)
    await until('it is here', () => connections.length === 1)
    const [connection] = connections
    assert.ok(connection !== undefined)
    const asked = async (): Promise<ServerResponse> => {
      client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      return until('a request is served', () => responses.shift())
    }
    return { client, connection, crowd, asked }
  }

  it('goes on while we are waited for', async () => {
    const { client, connection, asked } = await scene()
    const response = await asked()
    connection.quiet()
    response.end('done')
    await client.until(/done/)
    client.socket.destroy()
  })

  it('is ended when the client does not take its answer, and when it asks for nothing', async () => {
    const slow = await scene()
    slow.client.socket.pause()
    const response = await slow.asked()
    response.end(Buffer.alloc(64 * 1024 * 1024))
    slow.connection.quiet()
    await until('nothing is left of it', () => slow.crowd.count === 0)
    const idle = await scene()
    idle.connection.quiet()
    await idle.client.ended()
    assert.equal(idle.crowd.count, 0)
  })
})
