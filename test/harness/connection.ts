import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A bare connection, for what no HTTP client would send. */
export interface Connection {
  readonly socket: Socket
  /** Everything that was received so far. */
  readonly received: () => string
  send(text: string | Uint8Array): void
  /** Resolves when what was received matches. Rejects when the connection ends first. */
  until(pattern: RegExp): Promise<string>
  /** Resolves with everything received once the other side has closed. */
  ended(): Promise<string>
}

export const openConnection = async (url: string): Promise<Connection> => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  let received = ''
  let over = false
  let look = (): void => {}
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    received += text
    look()
  })
  // A reset is an end too: what counts is what arrived before it.
  socket.on('error', () => {})
  socket.on('close', () => {
    over = true
    look()
  })
  const wait = (done: () => boolean): Promise<string> =>
    new Promise((resolve, reject) => {
      look = () => {
        if (done()) resolve(received)
        else if (over) reject(new Error(`the connection ended after ${JSON.stringify(received)}`))
      }
      look()
    })
  return {
    socket,
    received: () => received,
    send: (text) => void socket.write(text),
    until: (pattern) => wait(() => pattern.test(received)),
    ended: () => wait(() => over),
  }
}
