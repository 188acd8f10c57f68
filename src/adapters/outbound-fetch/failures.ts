import { OutboundFailure, type OutboundTrouble } from '../../ports/outbound-http.ts'

/** What is being tried, filled in as it becomes known, so that a failure can say it. */
export interface Attempt {
  readonly origin: string
  readonly port: number
  addresses: readonly string[]
  /** Host and port of the proxy on the way, without its credential. */
  readonly proxy: string | null
}

/** In words, without path, query and credentials. */
const inWords = ({ origin, port, addresses, proxy }: Attempt): string =>
  `${origin} (${[...addresses, `port ${port}`, ...(proxy === null ? [] : [`through the proxy ${proxy}`])].join(', ')})`

export const failed = (attempt: Attempt, trouble: OutboundTrouble, why: string, cause?: unknown): OutboundFailure =>
  new OutboundFailure(trouble, inWords(attempt), why, cause === undefined ? undefined : { cause })

/** The failure that an error of Node's means. */
export const translate = (error: unknown, attempt: Attempt): OutboundFailure => {
  if (error instanceof OutboundFailure) return error
  const { code, reason } = describedBy(error)
  if (isTls(code)) return failed(attempt, 'tls', tlsReasons[code] ?? `TLS failed (${code})`, error)
  if (code.startsWith('HPE_'))
    return failed(attempt, 'answer', answerReasons[code] ?? `its answer is no HTTP (${code})`, error)
  if (code === 'ETIMEDOUT') return failed(attempt, 'timeout', 'nobody took the connection in time', error)
  return failed(
    attempt,
    'network',
    networkReasons[code] ?? (code === '' ? reason : `the connection failed (${code})`),
    error,
  )
}

const describedBy = (error: unknown): { readonly code: string; readonly reason: string } => {
  // Where several addresses were tried, the first says it.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  if (!(first instanceof Error)) return { code: '', reason: 'the connection failed' }
  const code = 'code' in first && typeof first.code === 'string' ? first.code : ''
  return { code, reason: 'the connection failed' }
}

/** Errors of certificates bear the names of OpenSSL's, those of TLS itself begin with ERR_SSL or EPROTO. */
const isTls = (code: string): boolean =>
  code in tlsReasons ||
  code.startsWith('ERR_SSL_') ||
  code.startsWith('ERR_TLS_') ||
  code === 'EPROTO' ||
  code.startsWith('CERT_') ||
  code.startsWith('UNABLE_TO_')

const unknownIssuer = 'its certificate comes from an authority that is not known here'
const tlsReasons: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  CERT_REVOKED: 'its certificate was revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownIssuer,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownIssuer,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
  INVALID_PURPOSE: 'its certificate is not for servers',
  INVALID_CA: 'the authority of its certificate may not sign any',
  HOSTNAME_MISMATCH: 'its certificate is for another host',
}
const answerReasons: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'the head of its answer is too large',
}
const networkReasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'there is no such name',
  EAI_AGAIN: 'the name could not be looked up',
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
}
