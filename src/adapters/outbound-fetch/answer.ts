import type { IncomingMessage } from 'node:http'
import { outboundLeftBytesMax, outboundLeftMs } from '../../kernel/limits/outbound.ts'
import { second } from '../../kernel/units.ts'
import type { OutboundAnswer } from '../../ports/outbound-http.ts'
import type { Target } from './connecting.ts'
import type { Deadline } from './deadline.ts'
import { failed, translate } from './failures.ts'
import type { Answered } from './sending.ts'

export interface Reading {
  readonly target: Target
  readonly deadline: Deadline
  /** False for an answer that only says how long a body would be. */
  readonly hasBody: boolean
  readonly bodyBytesMax: number
  readonly patienceMs: number
  readonly slowestBytesPerSecond: number
}

/** Hands an answer to whoever takes it, and gives the connection back when they are done. */
export const readAnswer = async <T>(
  answered: Answered,
  reading: Reading,
  take: (answer: OutboundAnswer) => Promise<T>,
): Promise<T> => {
  const { target, bodyBytesMax } = reading
  const { response } = answered
  const pieces = piecesOf(answered, reading)
  const announced = Number(response.headers['content-length'] ?? 0)
  if (reading.hasBody && announced > bodyBytesMax) throw tooLarge(target, bodyBytesMax)
  const taken = await take({
    status: response.statusCode ?? 0,
    headers: headersOf(response),
    url: target.url.href,
    pieces,
    whole: (bytesMax) => wholeOf(pieces, bytesMax, target),
  })
  leaveUnread(response)
  return taken
}

/** Reads what is left where that is little, so that the connection serves the next request. */
export const leaveUnread = (response: IncomingMessage): void => {
  if (response.closed || response.destroyed || response.readableEnded) return
  let left = 0
  const late = setTimeout(() => response.destroy(), outboundLeftMs)
  response.on('error', () => undefined)
  response.on('close', () => clearTimeout(late))
  response.on('data', (piece: Buffer) => {
    left += piece.byteLength
    if (left > outboundLeftBytesMax) response.destroy()
  })
}

/** Each piece earns time for the next, so that a sender which trickles is done with as one that is silent. */
async function* piecesOf({ response, wrong }: Answered, reading: Reading): AsyncGenerator<Uint8Array> {
  const { target, deadline, bodyBytesMax, patienceMs, slowestBytesPerSecond } = reading
  const { attempt } = target
  const iterator = response.iterator({ destroyOnReturn: false })
  let patience = patienceMs
  let bytes = 0
  try {
    for (;;) {
      const began = performance.now()
      const late = setTimeout(() => response.destroy(failed(attempt, 'timeout', 'its body comes too slowly')), patience)
      const next: IteratorResult<Uint8Array, unknown> = await iterator
        .next()
        .catch((error: unknown) => {
          throw deadline.signal.aborted ? deadline.reached(attempt, 'no body') : translate(wrong() ?? error, attempt)
        })
        .finally(() => clearTimeout(late))
      if (next.done === true) return
      bytes += next.value.byteLength
      if (bytes > bodyBytesMax) throw tooLarge(target, bodyBytesMax)
      const earned = (next.value.byteLength / slowestBytesPerSecond) * second
      patience = Math.max(0, Math.min(patienceMs, patience - (performance.now() - began) + earned))
      yield next.value
    }
  } finally {
    await iterator.return?.()
  }
}

const wholeOf = async (pieces: AsyncIterable<Uint8Array>, bytesMax: number, target: Target): Promise<Uint8Array> => {
  const taken: Uint8Array[] = []
  let bytes = 0
  for await (const piece of pieces) {
    bytes += piece.byteLength
    if (bytes > bytesMax) throw tooLarge(target, bytesMax)
    taken.push(piece)
  }
  return Buffer.concat(taken)
}

const tooLarge = ({ attempt }: Target, bytesMax: number): Error =>
  failed(attempt, 'answer', `its body is larger than ${bytesMax} bytes`)

const headersOf = ({ headers }: IncomingMessage): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
