import type { IncomingMessage, ServerResponse } from 'node:http'
import type { IncomingBody } from '../../contract/handler.ts'
import type { Failure } from '../../kernel/failure.ts'
import { unwantedBodyBytesMax } from '../../kernel/limits/http.ts'
import type { Scope } from '../../kernel/scope.ts'
import type { BodyDigests } from './body-digests.ts'
import { Reading } from './reading.ts'
import type { ReceivingSeat } from './receiving-seat.ts'

/** Counts a body while it arrives. */
interface Transfer {
  add(bytes: number): void
  end(): void
}

/** What reading a body takes, and whose it is. */
interface Taking {
  readonly scope: Scope
  readonly deadlineSeconds: number
  readonly beginTransfer: () => Transfer
  /** Sees every piece, and throws when the body is not what was said of it. */
  readonly digests: BodyDigests | null
  readonly whenWhole: () => Promise<unknown>
  /** Waits for the body's turn; `cut` ends the body with what to answer. */
  readonly seat: (cut: (failure: Failure) => void) => Promise<Pick<ReceivingSeat, 'awaits' | 'goesOn' | 'received'>>
}

/** Requests that asked for `100 Continue` and have not got it yet. Refused ones never send their body. */
const waitingForContinue = new WeakSet<IncomingMessage>()

export const expectsContinue = (request: IncomingMessage): void => {
  waitingForContinue.add(request)
}

/** Tells a client that waits for it to send the body now (RFC 9110, section 10.1.1). */
export const continueBody = (request: IncomingMessage, response: ServerResponse): void => {
  if (waitingForContinue.delete(request)) response.writeContinue()
}

const declaredBytes = (request: IncomingMessage): number | null => {
  const length = request.headers['content-length']
  return length === undefined ? null : Number(length)
}

/**
 * The body of a request as a stream with two clocks: idle (no byte for a while) and the upload deadline. Its turn is
 * waited for when the first piece is asked for; then reading starts, and `100 Continue` goes out. `whenWhole` is asked
 * when the last piece was taken: what it throws ends the stream instead of its end.
 */
export const incomingBody = (
  request: IncomingMessage,
  response: ServerResponse,
  taking: Taking,
): Omit<IncomingBody, 'keeps'> => ({
  declaredBytes: request.headers['transfer-encoding'] === undefined ? (declaredBytes(request) ?? 0) : null,
  mediaType: request.headers['content-type'],
  pieces: { [Symbol.asyncIterator]: () => timedPieces(request, response, taking) },
})

async function* timedPieces(
  request: IncomingMessage,
  response: ServerResponse,
  { scope, deadlineSeconds, beginTransfer, digests, whenWhole, seat: takeSeat }: Taking,
): AsyncGenerator<Uint8Array> {
  const reading = new Reading(request)
  const seat = await takeSeat((failure) => reading.stop(failure))
  continueBody(request, response)
  const transfer = beginTransfer()
  reading.begin(deadlineSeconds)
  const release = scope.own(() => {
    transfer.end()
    reading.end()
    // Also where whoever read the beginning never came back for more: what follows is read and dropped.
    reading.leave()
  })
  try {
    for (;;) {
      const piece = reading.next()
      if (piece === 'ended') {
        digests?.verify()
        await whenWhole()
        return
      }
      if (piece === null) {
        seat.awaits()
        await reading.more()
        seat.goesOn()
        continue
      }
      reading.isAlive()
      transfer.add(piece.byteLength)
      seat.received(piece.byteLength)
      digests?.update(piece)
      yield piece
      reading.isAlive()
    }
  } finally {
    release()
  }
}

/** True when so much of the body is still to come that closing the connection is cheaper than reading on. */
export const leavesMuchUnread = (request: IncomingMessage): boolean => {
  if (request.complete || request.readableEnded) return false
  if (waitingForContinue.has(request)) return true
  const declared = request.headers['transfer-encoding'] === undefined ? (declaredBytes(request) ?? 0) : null
  return declared === null || declared > unwantedBodyBytesMax
}
