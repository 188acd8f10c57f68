import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { Failure } from '../../kernel/failure.ts'
import { remembered } from '../../kernel/remembered.ts'
import { hostOf } from './target.ts'

/** A name or an address, and perhaps a port (RFC 9110, section 7.2). */
const form = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9_][a-z0-9_.-]{0,253})(?::\d{1,5})?$/i

/** The host without its port, in lower case and without brackets; null for what is none. */
const nameIn = (host: string): string | null => nameOrNothing(host) || null

const nameOrNothing = remembered(
  (host) =>
    form
      .exec(host)?.[1]
      ?.toLowerCase()
      .replace(/^\[|\]$/g, '') ?? '',
)

/** True for names and addresses that mean this very machine. */
export const isLoopback = (name: string): boolean =>
  name === 'localhost' ||
  name.endsWith('.localhost') ||
  (isIP(name) === 4 && name.startsWith('127.')) ||
  (isIP(name) === 6 && name === '::1')

/**
 * True for a host that no page elsewhere can pretend to be: an address, or a name of this machine. Any other name may
 * lead here because somebody else says so in the DNS.
 */
export const isUnmistakable = remembered((host): boolean => {
  const name = nameIn(host)
  return name !== null && (isIP(name) !== 0 || isLoopback(name))
})

const refused = (detail: string): Failure =>
  new Failure('invalid_request', detail, { headers: { connection: 'close' } })

const timesSent = ({ rawHeaders }: IncomingMessage, name: string): number =>
  rawHeaders.filter((each, at) => at % 2 === 0 && each.toLowerCase() === name).length

export interface HostRule {
  /** The service listens on loopback alone. */
  readonly onLoopback: boolean
  /** The connection comes from a proxy that is trusted. */
  readonly fromProxy: boolean
  readonly baseUrl: string | null
}

/** Headers that say one thing; sent twice, two who read the request could read two things. */
const sentOnce = [
  ...['host', 'authorization', 'content-type', 'content-range', 'content-md5', 'origin', 'range', 'if-range'],
  ...[
    'if-modified-since',
    'if-unmodified-since',
    'idempotency-key',
    'upload-offset',
    'x-content-sha256',
    'access-control-request-method',
  ],
  ...['x-checksum-md5', 'x-checksum-sha1', 'x-checksum-sha256', 'x-checksum-sha512'],
  ...['svc-download-id', 'svc-download-class', 'svc-queue-ticket', 'svc-redirect'],
]

/**
 * 400 for a header that may stand once and stands twice, for a Host that is none, and on loopback for one that is
 * neither a name of this machine nor the one in SVC_BASE_URL: a page elsewhere whose name leads here gets nothing. What
 * stands in a target that is a whole address counts for Host.
 */
export const refuseWrongHost = (request: IncomingMessage, { onLoopback, fromProxy, baseUrl }: HostRule): void => {
  const { headers, rawHeaders, httpVersion } = request
  // Most requests send each of theirs once.
  if (Object.keys(headers).length * 2 < rawHeaders.length)
    for (const name of sentOnce)
      if (timesSent(request, name) > 1) throw refused(`The header ${name} stands more than once; send it once.`)
  if (headers.host === undefined && httpVersion !== '1.0') throw refused('A request names the Host that it is for.')
  const host = hostOf(request)
  if (host === undefined) return
  const name = nameIn(host)
  const forwarded = fromProxy ? lastForwarded(headers['x-forwarded-host']) : ''
  const others = [headers.host ?? host, forwarded === '' ? host : forwarded]
  if (name === null || others.some((each) => nameIn(each) === null))
    throw refused('The Host of a request, and of its target, is a name or an address, and perhaps a port.')
  if (
    !onLoopback ||
    fromProxy ||
    isLoopback(name) ||
    (baseUrl !== null && new URL(baseUrl).host === host.toLowerCase())
  )
    return
  throw refused(
    'The service listens on this machine alone and is called localhost here. Behind a proxy, set SVC_BASE_URL to the address that clients use.',
  )
}

/** What the nearest proxy says. */
export const lastForwarded = (value: string | string[] | undefined): string =>
  (Array.isArray(value) ? value.join(',') : (value ?? '')).split(',').at(-1)?.trim() ?? ''
