import type { Ask } from './client.ts'
import { openConnection } from './connection.ts'

/**
 * A client that takes its answer no faster than it is asked to: so long it keeps what the server gave it to send with.
 */
export interface SlowClient {
  /** The head of the answer. */
  readonly head: string
  /** Goes away in the middle. */
  vanish(): void
  /** Takes the rest; resolves with the body. */
  finish(): Promise<Buffer>
}

/**
 * Sends a GET and takes the head of the answer and a little more. The body has to be larger than the buffers between.
 */
export const startSlowly = async (url: string, { path, credential, headers = {} }: Ask): Promise<SlowClient> => {
  const connection = await openConnection(url)
  const { socket } = connection
  const { host = 'localhost', ...rest } = headers
  const lines = Object.entries(rest).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.once('data', () => socket.pause())
  if (credential !== undefined && credential !== null) lines.push(`Authorization: Bearer ${credential}\r\n`)
  connection.send(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${lines.join('')}\r\n`)
  await connection.until(/\r\n\r\n/)
  const head = connection.received().split('\r\n\r\n', 1)[0] ?? ''
  return {
    head,
    vanish: () => socket.destroy(),
    async finish() {
      socket.resume()
      return Buffer.from((await connection.ended()).slice(head.length + 4), 'latin1')
    },
  }
}
