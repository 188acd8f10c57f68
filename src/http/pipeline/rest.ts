import { STATUS_CODES } from 'node:http'
import { bearerCredential } from '../../contract/credential.ts'
import type { Rendered, Wire } from '../../contract/wire.ts'
import type { Failure } from '../../kernel/failure.ts'
import { problemPage } from './problem-page.ts'

/** RFC 6750, section 3: how to authenticate, and why it did not work. */
const challenge = (failure: Failure): string =>
  failure.code === 'credential_missing'
    ? 'Bearer error="credential_missing"'
    : `Bearer error="${failure.code}", error_description="${failure.title}"`

/** A failure as `application/problem+json` (RFC 9457), with its extensions `code`, `requestId` and what else it has. */
export const renderProblem = (failure: Failure, requestId: string): Rendered => {
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

/** The same failure for whoever looks at it: its headers stay, but for what is about the body. */
const asPage = (rendered: Rendered, failure: Failure, request: { requestId: string; baseUrl: string }): Rendered => {
  const { headers, text } = problemPage(failure, failure.title || (STATUS_CODES[failure.status] ?? ''), request)
  return { ...rendered, headers: { ...rendered.headers, ...headers }, text }
}

/** The wire of the service's own interface, and of everything that is nobody else's. */
export const rest: Wire = {
  name: 'rest',
  prefix: '',
  credentialOf: bearerCredential,
  render(failure, { requestId, baseUrl, wantsPage }) {
    const rendered = renderProblem(failure, requestId)
    return wantsPage ? asPage(rendered, failure, { requestId, baseUrl }) : rendered
  },
}
