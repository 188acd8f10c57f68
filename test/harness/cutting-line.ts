import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A request as its head passed by. */
export interface PassedHead {
  readonly method: string
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/** The line between clients and a service, which breaks after some bytes. */
export interface CuttingLine extends AsyncDisposable {
  /** The service's address, by way of the line. */
  readonly url: string
  /** Requests that passed since they were last taken from here. */
  readonly heads: PassedHead[]
  /** Bytes that are still to pass, either way together, before each of the breaks to come. */
  readonly cuts: number[]
}

const readHead = (bytes: Buffer): PassedHead | null => {
  const text = bytes.subarray(0, 16_384).toString('latin1')
  const [, method, path, rest] = /^([A-Z]{3,7}) (\/\S*) HTTP\/1\.1\r\n([\s\S]*?)\r\n\r\n/.exec(text) ?? []
  if (method === undefined || path === undefined || rest === undefined) return null
  const fields = rest.split('\r\n').map((line) => line.split(/: */, 2))
  return {
    method,
    path,
    headers: Object.fromEntries(fields.map(([name = '', value = '']) => [name.toLowerCase(), value])),
  }
}

/** Breaks are abrupt: one side after the other hears of a reset. */
export const startCuttingLine = async (serviceUrl: string): Promise<CuttingLine> => {
  const { hostname, port } = new URL(serviceUrl)
  const sockets = new Set<Socket>()
  const heads: PassedHead[] = []
  const cuts: number[] = []
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    const pair = [client, upstream] as const
    for (const socket of pair) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        for (const each of pair) each.destroy()
      })
    }
    /** Whether so many bytes may pass whole. */
    const passes = (bytes: Buffer, to: Socket): boolean => {
      const [left] = cuts
      if (left === undefined) return true
      if (bytes.byteLength < left) {
        cuts[0] = left - bytes.byteLength
        return true
      }
      cuts.shift()
      to.write(bytes.subarray(0, left), () => {
        for (const each of pair) each.resetAndDestroy()
      })
      return false
    }
    const lead = (from: Socket, to: Socket, look: (bytes: Buffer) => void): void => {
      from.on('data', (bytes: Buffer) => {
        look(bytes)
        if (passes(bytes, to) && !to.write(bytes)) from.pause()
      })
      to.on('drain', () => from.resume())
    }
    lead(client, upstream, (bytes) => {
      const head = readHead(bytes)
      if (head !== null) heads.push(head)
    })
    lead(upstream, client, () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: own } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${own}`,
    heads,
    cuts,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
