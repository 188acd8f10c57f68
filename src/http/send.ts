import type { ServerResponse } from 'node:http'
import { transferIdleMs } from '../kernel/limits.ts'

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
      if (response.destroyed || !(await write(response, piece.value))) return
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
