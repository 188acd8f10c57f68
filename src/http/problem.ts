import { STATUS_CODES } from 'node:http'
import type { Failure } from '../kernel/failure.ts'

export interface ProblemAnswer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
}

/** RFC 6750, section 3: how to authenticate, and why it did not work. */
const challenge = (failure: Failure): string =>
  failure.code === 'credential_missing'
    ? 'Bearer error="credential_missing"'
    : `Bearer error="${failure.code}", error_description="${failure.title}"`

/** A failure as `application/problem+json` (RFC 9457), with its extensions `code`, `requestId` and what else it has. */
export const renderProblem = (failure: Failure, requestId: string): ProblemAnswer => {
  const { code, status, title, message, details, retryAfterSeconds } = failure
  const problem = {
    type: 'about:blank',
    title: title || STATUS_CODES[status],
    status,
    code,
    detail: message,
    requestId,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(details.length === 0 ? {} : { details }),
  }
  return {
    status,
    headers: {
      ...failure.headers,
      'content-type': 'application/problem+json; charset=utf-8',
      'cache-control': 'no-store',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(status === 401 ? { 'www-authenticate': challenge(failure) } : {}),
    },
    text: JSON.stringify(problem),
  }
}
