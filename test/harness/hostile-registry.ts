import { hash } from 'node:crypto'
import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { packed, type TestPackage } from './npm-documents.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A registry of this machine that answers as it is told, and remembers what it was asked. */
export interface HostileRegistry {
  readonly url: string
  /** Paths that were asked for. */
  readonly asked: string[]
  /** Headers of the requests, in the same order. */
  readonly headers: IncomingMessage['headers'][]
  /** What it answers at a path from now on; anything else is 404. */
  at(path: string, answer: Answer): void
  /** A package of one version in good order, unless what is told of it is changed; answers its tarball. */
  publish(
    manifest: TestPackage,
    change?: {
      readonly tarball?: Buffer
      readonly dist?: Record<string, unknown>
      readonly version?: Record<string, unknown>
      readonly document?: Record<string, unknown>
    },
  ): Promise<Buffer>
  /** Takes no connections any more; those that are open end. */
  leave(): Promise<void>
}

/** Answers with JSON. */
export const json =
  (body: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }

export const bytes =
  (body: Uint8Array): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': body.byteLength })
    response.end(body)
  }

/** Goes on until the other side has enough. */
export const endless =
  (piece: Uint8Array, first: Uint8Array = Buffer.alloc(0)): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    response.write(first)
    const more = (): void => {
      while (!response.destroyed && response.write(piece));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  }

export const startHostileRegistry = async (): Promise<HostileRegistry> => {
  const answers = new Map<string, Answer>()
  const asked: string[] = []
  const headers: IncomingMessage['headers'][] = []
  const sockets = new Set<Socket>()
  const server = http.createServer((request, response) => {
    asked.push(request.url ?? '')
    headers.push(request.headers)
    response.on('error', () => undefined)
    const answer = answers.get(request.url ?? '')
    if (answer !== undefined) return answer(request, response)
    response.writeHead(404, { 'content-type': 'application/json' })
    response.end('{"error":"not found"}')
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const leave = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    url,
    asked,
    headers,
    leave,
    at: (path, answer) => void answers.set(path, answer),
    async publish(manifest, { tarball, dist = {}, version = {}, document = {} } = {}) {
      const { name } = manifest
      const sent = tarball ?? (await packed(manifest))
      const path = `/${name}/-/${name.slice(name.indexOf('/') + 1)}-${manifest.version}.tgz`
      answers.set(path, bytes(sent))
      answers.set(
        `/${name.replace('/', '%2f')}`,
        json({
          name,
          'dist-tags': { latest: manifest.version },
          time: { [manifest.version]: '2020-01-01T00:00:00.000Z' },
          versions: {
            [manifest.version]: {
              ...manifest,
              dist: {
                tarball: `${url}${path}`,
                shasum: hash('sha1', sent),
                integrity: `sha512-${hash('sha512', sent, 'base64')}`,
                ...dist,
              },
              ...version,
            },
          },
          ...document,
        }),
      )
      return sent
    },
  }
}
