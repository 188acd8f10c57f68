import { once } from 'node:events'
import http, { type RequestListener } from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** A server of this machine that answers as it is told, and counts its connections. */
export const listening = async (
  t: TestContext,
  listener: RequestListener,
  prepare: (server: http.Server) => void = () => undefined,
): Promise<{ url: string; connections: () => number }> => {
  const server = http.createServer(listener)
  prepare(server)
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  return { url: await opened(t, server), connections: () => connections }
}

/** One that knows no HTTP: it is handed each connection. */
export const bare = async (t: TestContext, connected: (socket: Socket) => void): Promise<string> =>
  opened(
    t,
    net.createServer((socket) => {
      socket.on('error', () => undefined)
      connected(socket)
    }),
  )

export const opened = async (t: TestContext, server: net.Server, host = '127.0.0.1', port = 0): Promise<string> => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(port, host)
  await once(server, 'listening')
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  const address = server.address()
  return `http://${host}:${isAddress(address) ? address.port : 0}`
}

/** An address of this machine that nobody has. */
export const nobodyListens = async (): Promise<string> => {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${isAddress(address) ? address.port : 0}`
}

const isAddress = (address: string | AddressInfo | null): address is AddressInfo =>
  typeof address === 'object' && address !== null
