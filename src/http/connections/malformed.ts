import { STATUS_CODES } from 'node:http'
import { Failure } from '../../kernel/failure.ts'
import { headersTimeoutMs, requestHeadBytesMax } from '../../kernel/limits/http.ts'
import { nextRequestId } from '../pipeline/exchange.ts'
import { renderProblem } from '../pipeline/rest.ts'

/** A request line of HTTP/1, whatever its method. */
const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64} \S+ HTTP\/1\.[01]\r?\n/

const isRequest = (packet: unknown): boolean =>
  packet instanceof Uint8Array &&
  requestLine.test(Buffer.from(packet.subarray(0, requestHeadBytesMax)).toString('latin1'))

const failureOf = (error: Error): Failure => {
  const { code, rawPacket }: Record<string, unknown> = { ...error }
  switch (code) {
    case 'HPE_INVALID_METHOD':
      if (!isRequest(rawPacket)) break
      return unknownMethod()
    case 'HPE_HEADER_OVERFLOW':
      return new Failure('invalid_request', `The request head is longer than ${requestHeadBytesMax} bytes.`)
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Failure(
        'upload_deadline',
        `The request head did not arrive within ${headersTimeoutMs / 1000} seconds.`,
      )
  }
  return new Failure('invalid_request', 'This is not HTTP/1.1.')
}

/** Of a method that nobody knows, the path is not read. */
const knownMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

const unknownMethod = (): Failure =>
  new Failure('method_not_allowed', `Known here: ${knownMethods}.`, { headers: { allow: knownMethods } })

/**
 * The whole answer to what is no HTTP at all. It has no request, so it is written straight to the connection, which
 * then ends.
 */
export const malformedAnswer = (error: Error): string => lastAnswer(failureOf(error))

/** The same to `CONNECT`: what comes behind it would be no HTTP either. */
export const tunnelAnswer = (): string => lastAnswer(unknownMethod())

const lastAnswer = (failure: Failure): string => {
  const requestId = nextRequestId()
  const { status, text, headers } = renderProblem(failure, requestId)
  const all = Object.entries({
    ...headers,
    'x-request-id': requestId,
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  })
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`
}
