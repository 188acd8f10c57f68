import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Told } from '../harness/client.ts'

const pieceBytes = 65_536

/**
 * Sends half of a body, waits until `meanwhile` is done, and goes on until there is an answer. Slowly: the service
 * reads only a little of what it refused, and a sender that meets a closed connection loses the answer.
 */
export const slowly = async (
  bytes: Buffer,
  meanwhile: (() => Promise<void>) | undefined,
  send: (body: Readable) => Promise<Told>,
): Promise<Told> => {
  let answered = false
  const half = Math.floor(bytes.byteLength / 2 / pieceBytes) * pieceBytes
  const body = Readable.from(
    (async function* () {
      for (let at = 0; at < bytes.byteLength && !answered; at += pieceBytes) {
        if (at === half) await meanwhile?.()
        await pause(5)
        yield bytes.subarray(at, at + pieceBytes)
      }
    })(),
    { objectMode: false },
  )
  try {
    return await send(body)
  } finally {
    answered = true
  }
}
