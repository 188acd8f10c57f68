import { bearerOrBasicCredential } from '../../contract/credential.ts'
import type { Rendered, Wire } from '../../contract/wire.ts'
import type { Failure, FailureCode } from '../../kernel/failure.ts'
import { challengeOf, toldOf, wireName } from './challenge.ts'
import { Refusal, type RegistryCode, type RegistryError } from './refusals.ts'

const codes: Partial<Record<FailureCode, RegistryCode>> = {
  not_found: 'NAME_UNKNOWN',
  method_not_allowed: 'UNSUPPORTED',
  body_too_large: 'SIZE_INVALID',
  checksum_mismatch: 'DIGEST_INVALID',
  size_mismatch: 'SIZE_INVALID',
  range_not_satisfiable: 'RANGE_INVALID',
  upload_state: 'BLOB_UPLOAD_INVALID',
  upload_deadline: 'UNAVAILABLE',
  rate_limited: 'TOOMANYREQUESTS',
  storage_quota: 'DENIED',
  insufficient_space: 'DENIED',
  upload_limit: 'DENIED',
  unsupported_media_type: 'UNSUPPORTED',
  not_implemented: 'UNSUPPORTED',
  precondition_failed: 'UNSUPPORTED',
}

/** Of what the schemas of a request refuse. */
const codesOfFields: Readonly<Record<string, RegistryCode>> = {
  '/path/name': 'NAME_INVALID',
  '/path/digest': 'DIGEST_INVALID',
  '/query/digest': 'DIGEST_INVALID',
  '/query/digest-algorithm': 'DIGEST_INVALID',
  '/query/mount': 'DIGEST_INVALID',
  '/query/n': 'PAGINATION_NUMBER_INVALID',
  '/headers/content-range': 'BLOB_UPLOAD_INVALID',
}

const codeOf = ({ code, status, details }: Failure): RegistryCode => {
  if (status === 401) return 'UNAUTHORIZED'
  if (status === 403) return 'DENIED'
  if (status === 503) return 'UNAVAILABLE'
  if (status === 500) return 'UNKNOWN'
  return codes[code] ?? codesOfFields[details[0]?.pointer ?? ''] ?? 'UNSUPPORTED'
}

/**
 * What the content says with 422 is plainly wrong here. Clients show the words of a refusal below 500 alone, and repeat
 * what is not: a quota is none of that.
 */
const statusOf = ({ code, status }: Failure): number => {
  if (code === 'storage_quota' || code === 'upload_limit') return 413
  return status === 422 ? 400 : status
}

const errorsOf = (failure: Failure): readonly RegistryError[] =>
  failure instanceof Refusal ? failure.errors : [{ code: codeOf(failure), message: toldOf(failure) }]

const render = (failure: Failure, requestId: string, baseUrl: string): Rendered => {
  const { retryAfterSeconds } = failure
  const status = statusOf(failure)
  const errors = errorsOf(failure).map(({ code, message, detail }) => ({
    code,
    message,
    detail: { ...detail, reason: failure.code, requestId },
  }))
  return {
    status,
    headers: {
      ...failure.headers,
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'docker-distribution-api-version': 'registry/2.0',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(status === 401 ? { 'www-authenticate': challengeOf(failure, baseUrl) } : {}),
    },
    text: JSON.stringify({ errors }),
  }
}

/** Clients ask for `/v2/` and for `…/blobs/uploads/`, and some leave the slash at the end out. */
const spelled = (path: string): string => (/^\/v2\/$|\/blobs\/uploads\/$/.test(path) ? path.slice(0, -1) : path)

/** A repository is no image, as it is in other registries. */
const missing = (path: string): string | null => {
  const [, name] = /^\/v2\/([^/]+)\/(?:manifests|blobs|tags|referrers)\//.exec(path) ?? []
  if (name === undefined) return null
  return `The name of an image is a repository and at least one part more, such as releases/app; ${name} is one part.`
}

/** Container clients: credentials by Basic as well, and failures as a list of errors. */
export const ociWire: Wire = {
  name: wireName,
  prefix: '/v2',
  credentialOf: bearerOrBasicCredential,
  spelled,
  missing,
  render: (failure, { requestId, baseUrl }) => render(failure, requestId, baseUrl),
}
