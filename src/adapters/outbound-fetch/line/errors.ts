import type { OutboundFailure } from '../../../ports/outbound-http.ts'
import { type Attempt, failed, translate } from '../failures.ts'
import { AnswerWrong, notHttp } from './connection.ts'

/** The failure that an error of a line means. */
export const failureOf = (error: unknown, attempt: Attempt): OutboundFailure => {
  if (error instanceof AnswerWrong) return failed(attempt, 'answer', error.message)
  const code = codeOf(error)
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return failed(attempt, 'answer', 'the head of its answer is too large', error)
  if (isNotHttp(error, code)) return failed(attempt, 'answer', notHttp, error)
  return code === 'UND_ERR_SOCKET'
    ? failed(attempt, 'network', 'the connection was cut', error)
    : translate(error, attempt)
}

/** A "100 Continue" that nobody asked for, which the client takes for no answer. */
export const isUnaskedContinue = (error: unknown): boolean => isOfSocket(error, 'bad response')

/** What was to be sent cannot be sent. */
export const isUnsendable = (error: unknown): boolean => codeOf(error) === 'UND_ERR_INVALID_ARG'

const isNotHttp = (error: unknown, code: unknown): boolean =>
  (error instanceof Error && error.name === 'HTTPParserError') ||
  code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' ||
  isOfSocket(error, 'bad upgrade')

/** Errors of connections that differ in their words alone. */
const isOfSocket = (error: unknown, message: string): boolean =>
  codeOf(error) === 'UND_ERR_SOCKET' && error instanceof Error && error.message === message

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)
