import { bearerOrBasicCredential } from '../../contract/credential.ts'
import type { Rendered, Wire } from '../../contract/wire.ts'
import type { Failure } from '../../kernel/failure.ts'
import { lfsMediaType, wireName } from './vocabulary.ts'

/** Clients read the first word, and then ask their user for a name and a password. */
const challenge = 'Basic realm="svc"'

const advice = 'Sign in with any user name, and a personal token or a service key as the password.'

/** What clients show to people. */
const toldOf = ({ code, message }: Failure): string => {
  if (code === 'credential_missing') return advice
  return code === 'credential_invalid' ? `${message} ${advice}` : message
}

/** The protocol says 422 of everything that a body says wrongly. */
const statusOf = ({ code, status, details }: Failure): number => {
  const isOfHead = details.some(({ pointer }) => /^\/(?:path\/|headers\/|query(?:$|\/))/.test(pointer))
  return code === 'invalid_request' && !isOfHead ? 422 : status
}

const render = (failure: Failure, requestId: string): Rendered => {
  const { retryAfterSeconds } = failure
  const status = statusOf(failure)
  return {
    status,
    headers: {
      ...failure.headers,
      'content-type': lfsMediaType,
      'cache-control': 'no-store',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(status === 401 ? { 'lfs-authenticate': challenge, 'www-authenticate': challenge } : {}),
    },
    text: JSON.stringify({ message: toldOf(failure), request_id: requestId, reason: failure.code }),
  }
}

/**
 * The address of a repository itself has nothing between the repository and what is asked; a template has a place for
 * it, which is empty then.
 */
const bare = /^(\/lfs\/[^/]+)\/(objects\/batch|locks(?:\/verify|\/[^/]+\/unlock)?)$/

/** Git LFS: credentials by Basic as well, and failures as a message. */
export const lfsWire: Wire = {
  name: wireName,
  prefix: '/lfs',
  credentialOf: bearerOrBasicCredential,
  spelled: (path) => path.replace(bare, '$1//$2'),
  render: (failure, { requestId }) => render(failure, requestId),
}
