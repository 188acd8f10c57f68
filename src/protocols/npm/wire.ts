import { bearerOrBasicCredential } from '../../contract/credential.ts'
import type { Rendered, Wire } from '../../contract/wire.ts'
import type { Failure } from '../../kernel/failure.ts'
import { RefusedOnPage } from './accounts/refused-on-page.ts'

const advice =
  'Set a personal token or a service key as _authToken of this registry in .npmrc, or sign in with npm login.'

/** What clients show to people. */
const toldOf = ({ code, message }: Failure): string =>
  code === 'credential_missing' || code === 'credential_invalid' ? `${message} ${advice}` : message

/**
 * What the content says with 422 is plainly wrong here. Clients show the words of a refusal below 500 alone, and repeat
 * what is not: a quota is none of that.
 */
const statusOf = ({ code, status }: Failure): number => {
  if (code === 'storage_quota' || code === 'upload_limit') return 413
  return status === 422 ? 400 : status
}

/** One scheme, and no word by which npm takes it for a question for a one-time password. */
const challenge = 'Bearer realm="svc"'

/**
 * At a sign-in. Where npm knows a scheme it speaks of tokens, or of npmjs; of one that it does not know it shows all.
 */
const passwordChallenge = ({ title }: Failure): string => `Password realm="${title}"`

const render = (failure: Failure, requestId: string): Rendered => {
  const { retryAfterSeconds, code } = failure
  const status = statusOf(failure)
  const told = failure instanceof RefusedOnPage ? failure.page : toldAsJson(failure, requestId)
  return {
    status,
    headers: {
      ...failure.headers,
      ...told.headers,
      'cache-control': 'no-store',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(status === 401
        ? { 'www-authenticate': code === 'invalid_credentials' ? passwordChallenge(failure) : challenge }
        : {}),
    },
    text: told.text,
  }
}

const toldAsJson = (failure: Failure, requestId: string) => ({
  headers: { 'content-type': 'application/json' },
  text: JSON.stringify({ error: toldOf(failure), code: failure.code, requestId }),
})

/** Clients put a credential into the path by which they sign out, and some by which they revoke a token. */
const shown = (path: string): string => path.replace(/(\/-\/(?:user|npm\/v1\/tokens)\/token\/).*$/, '$1***')

/**
 * A scoped name is one segment, however its slash is written: clients send `@scope%2fname`, `%40scope%2fname` and
 * `@scope/name`. What stands before the packages of a repository is left alone.
 */
const spelled = (path: string): string => {
  const [empty = '', prefix = '', repository = '', ...rest] = path.split('/')
  if (rest.length === 0) return path
  const segments: string[] = []
  for (let at = 0; at < rest.length; at++) {
    const segment = (rest[at] ?? '').replace(/^%40/, '@')
    const next = rest[at + 1]
    const isScope = /^@[^@%]+$/.test(segment) && next !== undefined && next !== '' && !next.startsWith('-')
    segments.push(isScope ? `${segment}%2F${next}` : segment)
    if (isScope) at += 1
  }
  // A registry is written with a slash at its end.
  if (segments.length === 1 && segments[0] === '') segments.pop()
  return [empty, prefix, repository, ...segments].join('/')
}

/** Clients of the npm registry: credentials by Basic as well, and failures as one sentence. */
export const npmWire: Wire = {
  name: 'npm',
  prefix: '/npm',
  credentialOf: bearerOrBasicCredential,
  spelled,
  shown,
  render: (failure, { requestId }) => render(failure, requestId),
}
