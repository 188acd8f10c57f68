import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { Failure } from '../kernel/failure.ts'
import { requestHeadBytesMax } from '../kernel/limits.ts'
import { nextRequestId } from './exchange.ts'
import { renderProblem } from './problem.ts'

/** Answers what is no HTTP at all. It has no request, so it is written straight to the connection, which then ends. */
export interface Malformed {
  /** Tells that an answer will be sent on the connection of this request. */
  begin(request: IncomingMessage, response: ServerResponse): void
  answer(error: Error, socket: Duplex): void
}

const problem = (error: Error): string => {
  const tooLong = 'code' in error && error.code === 'HPE_HEADER_OVERFLOW'
  const detail = tooLong ? `The request head is longer than ${requestHeadBytesMax} bytes.` : 'This is not HTTP/1.1.'
  const requestId = nextRequestId()
  const { text, headers } = renderProblem(new Failure('invalid_request', detail), requestId)
  const all = Object.entries({
    ...headers,
    'x-request-id': requestId,
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  })
  return `HTTP/1.1 400 Bad Request\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`
}

export const answerMalformed = (): Malformed => {
  const unfinished = new WeakMap<Duplex, Set<ServerResponse>>()
  return {
    begin({ socket }, response) {
      const here = unfinished.get(socket) ?? new Set()
      unfinished.set(socket, here.add(response))
      response.once('close', () => here.delete(response))
    },
    answer(error, socket) {
      // In the middle of another answer it would be taken for a piece of that one.
      const mixed = [...(unfinished.get(socket) ?? [])].some(({ headersSent }) => headersSent)
      if (mixed || !socket.writable) socket.destroy()
      else socket.end(problem(error))
    },
  }
}
