import type { ServerResponse } from 'node:http'
import { piecesPerTurn, transferIdleMs } from '../kernel/limits.ts'

/**
 * Copying a piece into a socket takes the event loop some 300 µs. With many downloads at once all of them would do so in
 * the same turn, and a small request would wait for all of them several times over. So a turn takes a few pieces; then
 * whatever else has come is looked at (measured with 64 downloads: p99 of a small GET is 4 ms, and was 32).
 */
let handedOver = 0
let turn: Promise<void> | null = null

const nextTurn = (): Promise<void> => {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      handedOver = 0
      turn = null
      resolve()
    })
  })
  return turn
}

const inItsTurn = async (): Promise<void> => {
  while (handedOver >= piecesPerTurn) await nextTurn()
  handedOver += 1
  void nextTurn()
}

/** The response learns of the end of its connection later than the socket; what is written to it in between is never taken. */
const isGone = (response: ServerResponse): boolean =>
  response.destroyed || response.socket === null || response.socket.destroyed || !response.socket.writable

/** Resolves when the kernel took the piece, false when the client is gone. */
const write = (response: ServerResponse, piece: Uint8Array): Promise<boolean> =>
  new Promise((resolve) => {
    response.write(piece, (error) => resolve(error === undefined || error === null))
  })

const end = (response: ServerResponse, piece?: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      response.off('close', done)
      resolve()
    }
    response.on('close', done)
    if (piece === undefined) response.end(done)
    else response.end(piece, done)
  })

/**
 * Sends stored bytes. A piece is handed to the kernel before the next one is asked for, because the source uses its
 * memory again; the source reads ahead meanwhile. A client that takes nothing for a while is cut off. Throws what the source throws, after cutting the connection: a short body must never look complete.
 */
export const sendBytes = async (
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  bytes: AsyncIterableIterator<Uint8Array>,
  transfer: { add(bytes: number): void; end(): void },
): Promise<void> => {
  try {
    const first = await bytes.next()
    response.setTimeout(transferIdleMs, () => response.destroy())
    response.writeHead(status, headers)
    if (first.done === true) {
      await end(response)
      return
    }
    if (String(first.value.byteLength) === headers['content-length']) {
      // The whole body: head and body leave in one packet.
      await end(response, first.value)
      transfer.add(first.value.byteLength)
      return
    }
    for (let piece: IteratorResult<Uint8Array> = first; piece.done !== true; piece = await bytes.next()) {
      await inItsTurn()
      if (isGone(response) || !(await write(response, piece.value))) return
      transfer.add(piece.value.byteLength)
    }
    await end(response)
  } catch (error) {
    if (response.headersSent) response.destroy()
    throw error
  } finally {
    transfer.end()
    await bytes.return?.()
  }
}
