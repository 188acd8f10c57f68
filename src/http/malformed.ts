import { STATUS_CODES } from 'node:http'
import { headersTimeoutMs } from '../kernel/connection-limits.ts'
import { Failure } from '../kernel/failure.ts'
import { requestHeadBytesMax } from '../kernel/limits.ts'
import { nextRequestId } from './exchange.ts'
import { renderProblem } from './problem.ts'

const failureOf = (code: unknown): Failure => {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Failure('invalid_request', `The request head is longer than ${requestHeadBytesMax} bytes.`)
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Failure(
        'upload_deadline',
        `The request head did not arrive within ${headersTimeoutMs / 1000} seconds.`,
      )
    default:
      return new Failure('invalid_request', 'This is not HTTP/1.1.')
  }
}

/** The whole answer to what is no HTTP at all. It has no request, so it is written straight to the connection, which then ends. */
export const malformedAnswer = (error: Error): string => {
  const requestId = nextRequestId()
  const { status, text, headers } = renderProblem(failureOf('code' in error ? error.code : null), requestId)
  const all = Object.entries({
    ...headers,
    'x-request-id': requestId,
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  })
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`
}
