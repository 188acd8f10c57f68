import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Stands between the service and PostgreSQL, and can lose the one answer that matters most. */
export interface CuttingProxy extends AsyncDisposable {
  /** The database's address by way of the proxy. */
  readonly url: string
  /** The next commit happens, and instead of the news of it the connection ends. */
  loseNextCommit(): void
  /** How many answers to commits were lost. */
  readonly lost: number
}

const committed = 'COMMIT\0'

export const startCuttingProxy = async (databaseUrl: string): Promise<CuttingProxy> => {
  const there = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let armed = false
  let lost = 0
  const server = createServer((client) => {
    const upstream = connect(Number(there.port), there.hostname)
    const cut = (): void => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', cut).on('close', () => {
        sockets.delete(socket)
        cut()
      })
    }
    client.on('data', (bytes: Buffer) => upstream.write(bytes))
    upstream.on('data', (bytes: Buffer) => {
      if (armed && bytes.includes(committed)) {
        armed = false
        lost += 1
        cut()
      } else client.write(bytes)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const url = new URL(databaseUrl)
  url.port = String(address.port)
  return {
    url: url.href,
    loseNextCommit() {
      armed = true
    },
    get lost() {
      return lost
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
