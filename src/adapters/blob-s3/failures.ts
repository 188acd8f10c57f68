import { S3ServiceException } from '@aws-sdk/client-s3'
import { BlobStoreFull, BlobStoreUnavailable } from '../../ports/blob-store.ts'

const full = new Set(['QuotaExceeded', 'XMinioStorageFull', 'InsufficientCapacity', 'XAmzStorageFull'])

/** The store is there and cannot now. */
const busy = new Set([
  ...['InternalError', 'ServiceUnavailable', 'SlowDown', 'RequestTimeout', 'Throttling', 'ThrottlingException'],
  ...['TooManyRequests', 'OperationAborted', 'IncompleteBody', 'BadDigest', 'XAmzContentSHA256Mismatch'],
])

/** Nothing that a second try would change; somebody has to set it right. */
const refusals: ReadonlyMap<string, string> = new Map([
  ['AccessDenied', 'the credentials lack a right on the bucket (docs/operating/object-stores.md lists them)'],
  ['InvalidAccessKeyId', 'the store does not know the access key (AWS_ACCESS_KEY_ID)'],
  ['SignatureDoesNotMatch', 'the secret is wrong (AWS_SECRET_ACCESS_KEY)'],
  ['ExpiredToken', 'the session token has expired (AWS_SESSION_TOKEN)'],
  ['InvalidToken', 'the session token is wrong (AWS_SESSION_TOKEN)'],
  ['RequestTimeTooSkewed', 'the clocks of this machine and of the store differ too much'],
  ['NoSuchBucket', 'there is no such bucket; create it, or correct SVC_BLOB_STORE'],
  ['PermanentRedirect', 'the bucket lies in another region; name it with region=… in SVC_BLOB_STORE'],
  ['AuthorizationHeaderMalformed', 'the bucket lies in another region; name it with region=… in SVC_BLOB_STORE'],
  ['CredentialsProviderError', 'there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'],
])

/** An answer by HTTP alone, as to HEAD, whose name says nothing. */
const refusedByStatus: Readonly<Record<number, string>> = {
  301: 'PermanentRedirect',
  401: 'AccessDenied',
  403: 'AccessDenied',
}

/** Below HTTP: refused, cut, not found. */
const network = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE', 'EPROTO', 'ERR_STREAM_PREMATURE_CLOSE'],
])

/** The store kept silent for too long. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

/** The store says what none does that can be relied on. The same request would be answered the same. */
export class UnfitAnswer extends Error {
  override readonly name = 'UnfitAnswer'
}

const statusOf = (error: unknown): number | undefined =>
  error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined

export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '')

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : '')

/** Whether the same request may well succeed in a moment. */
export const isPassing = (error: unknown): boolean => {
  if (!(error instanceof Error) || full.has(error.name) || error instanceof UnfitAnswer) return false
  if (error instanceof NoAnswer || busy.has(error.name) || network.has(codeOf(error))) return true
  if (error.name === 'TimeoutError') return true
  const status = statusOf(error) ?? 0
  return status === 429 || (status >= 500 && status !== 501 && status !== 507)
}

/** The key, or the upload, is not there: `NoSuchKey`, or the bare 404 of HEAD. A missing bucket is something else. */
export const isMissing = (error: unknown): boolean =>
  ['NoSuchKey', 'NotFound', 'NoSuchUpload'].includes(nameOf(error)) ||
  (statusOf(error) === 404 && nameOf(error) !== 'NoSuchBucket')

/** Whether the store answers, and does not let us. */
export const isRefusal = (error: unknown): boolean => refusalOf(error) !== undefined

const refusalOf = (error: unknown): string | undefined =>
  refusals.get(nameOf(error)) ?? refusals.get(refusedByStatus[statusOf(error) ?? 0] ?? '')

/**
 * What the port throws for an error of the object store. Unknown errors and the port's own pass unchanged. The store's
 * own words are repeated, since they hold no secret; the request, which may, is not.
 */
export const storeFailure = (cause: unknown): unknown => {
  if (!(cause instanceof Error)) return cause
  const { name, message } = cause
  if (full.has(name) || statusOf(cause) === 507)
    return new BlobStoreFull(`no room left in the object store (${name})`, { cause })
  const refusal = refusalOf(cause)
  if (refusal !== undefined) return new BlobStoreUnavailable(`the object store refuses: ${refusal}`, { cause })
  if (cause instanceof UnfitAnswer) return new BlobStoreUnavailable(`the object store is unfit: ${message}`, { cause })
  if (isPassing(cause))
    return new BlobStoreUnavailable(`the object store fails (${message || codeOf(cause)})`, { cause })
  return cause
}

/** Runs and throws the port's errors in place of the object store's. */
export const guarded = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run()
  } catch (error) {
    throw storeFailure(error)
  }
}
