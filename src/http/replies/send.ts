import type { ServerResponse } from 'node:http'
import { piecesPerRound } from '../../kernel/limits/transfers.ts'
import type { Scope } from '../../kernel/scope.ts'

/**
 * Copying a piece into a socket takes the event loop some 300 µs. With many downloads at once all of them would do so
 * in the same turn, and a small request would wait for all of them several times over. So a turn takes a few pieces;
 * then whatever else has come is looked at (measured with 64 downloads: p99 of a small GET is 4 ms, and was 32).
 */
let handedOver = 0
let round: Promise<void> | null = null

const nextRound = (): Promise<void> => {
  round ??= new Promise((resolve) => {
    setImmediate(() => {
      handedOver = 0
      round = null
      resolve()
    })
  })
  return round
}

const inItsRound = async (): Promise<void> => {
  while (handedOver >= piecesPerRound) await nextRound()
  handedOver += 1
  void nextRound()
}

/**
 * Sends stored bytes. A piece is handed to the kernel before the next one is asked for, because the source uses its
 * memory again; the source reads ahead meanwhile. A client that takes nothing for a while is cut off. Resolves when
 * everything is on its way or the client is gone: the scope ends when it is out. Throws what the source throws, after
 * cutting the connection: a short body must never look complete.
 */
export const sendBytes = async (
  response: ServerResponse,
  scope: Scope,
  status: number,
  headers: Readonly<Record<string, string>>,
  bytes: AsyncIterator<Uint8Array>,
  sent: (bytes: number) => void,
): Promise<void> => {
  let settle: (taken: boolean) => void = () => {}
  // Pieces that are written to a connection that ends are not always told of.
  scope.own(() => settle(false))
  /** Resolves when the kernel took the piece, false when the client is gone. */
  const write = (piece: Uint8Array): Promise<boolean> =>
    new Promise((resolve) => {
      settle = resolve
      if (scope.over) resolve(false)
      else response.write(piece, (error) => resolve(error === undefined || error === null))
    })
  try {
    const first = await bytes.next()
    if (scope.over) return
    response.writeHead(status, headers)
    if (first.done !== true && String(first.value.byteLength) === headers['content-length']) {
      // The whole body: head and body leave in one packet.
      response.end(first.value, () => sent(first.value.byteLength))
      return
    }
    for (let piece = first; piece.done !== true; piece = await bytes.next()) {
      await inItsRound()
      if (!(await write(piece.value))) return
      sent(piece.value.byteLength)
    }
    response.end()
  } catch (error) {
    if (response.headersSent) response.destroy()
    throw error
  }
}
