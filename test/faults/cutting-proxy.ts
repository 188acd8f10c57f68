import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Stands between the service and PostgreSQL, and can lose the one answer that matters most, or all of them. */
export interface CuttingProxy extends AsyncDisposable {
  /** The database's address by way of the proxy. */
  readonly url: string
  /** The next commit happens, and instead of the news of it the connection ends. */
  loseNextCommit(): void
  /** How many answers to commits were lost. */
  readonly lost: number
  /** From now on connections are open, new ones too, and nothing comes through them. */
  fallSilent(): void
  /** What connects from now on gets through; what was silent ends. */
  speak(): void
  /** Ends all connections; those to come lead to this server. */
  leadTo(databaseUrl: string): void
}

const committed = 'COMMIT\0'

export const startCuttingProxy = async (databaseUrl: string): Promise<CuttingProxy> => {
  let there = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let armed = false
  let lost = 0
  let silent = false
  const keep = (socket: Socket, cut: () => void): void => {
    sockets.add(socket)
    socket.on('error', cut).on('close', () => {
      sockets.delete(socket)
      cut()
    })
  }
  const server = createServer((client) => {
    if (silent) {
      keep(client, () => client.destroy())
      client.resume()
      return
    }
    const upstream = connect(Number(there.port), there.hostname)
    const cut = (): void => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) keep(socket, cut)
    client.on('data', (bytes: Buffer) => {
      if (!silent) upstream.write(bytes)
    })
    upstream.on('data', (bytes: Buffer) => {
      if (silent) return
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
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    loseNextCommit() {
      armed = true
    },
    get lost() {
      return lost
    },
    fallSilent() {
      silent = true
    },
    speak() {
      silent = false
      cutAll()
    },
    leadTo(other) {
      there = new URL(other)
      cutAll()
    },
    async [Symbol.asyncDispose]() {
      cutAll()
      server.close()
      await once(server, 'close')
    },
  }
}
