import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { networkOf } from '../../kernel/networks.ts'
import { isUnmistakable, lastForwarded as lastOf } from './hosts.ts'
import { hostOf } from './target.ts'

export type TrustedProxies = readonly (readonly [ipaddr.IPv4 | ipaddr.IPv6, number])[]

/** Parses a CIDR list. Throws a RangeError that names the wrong entry. */
export const parseTrustedProxies = (entries: readonly string[]): TrustedProxies =>
  entries.map((entry) => {
    try {
      return entry.includes('/') ? ipaddr.parseCIDR(entry) : singleAddress(entry)
    } catch {
      throw new RangeError(`${JSON.stringify(entry)} is no address range; write it like 10.0.0.0/8`)
    }
  })

const singleAddress = (entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] => {
  const address = ipaddr.parse(entry)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

const isTrusted = (address: string, proxies: TrustedProxies): boolean =>
  ipaddr.isValid(address) && isAmong(ipaddr.process(address), proxies)

const isAmong = (address: ipaddr.IPv4 | ipaddr.IPv6, proxies: TrustedProxies): boolean =>
  proxies.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits))

const header = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(',') : (value ?? '')

export interface ClientFacts {
  readonly clientAddress: string
  /** Without a slash at its end; has a path where SVC_BASE_URL has one. */
  readonly baseUrl: string
  /** The origin of pages of ours; null where only the client says under which name it found us. */
  readonly ownOrigin: string | null
  /** A proxy that is trusted says that it sends files itself, as nginx does that is told to by `X-Accel-Redirect`. */
  readonly proxySends: boolean
  /** It was to send this file itself and could not. */
  readonly proxyFailed: boolean
}

/** True when the connection comes from a proxy whose word about the client is taken. */
export const comesFromProxy = (request: IncomingMessage, proxies: TrustedProxies): boolean =>
  proxies.length > 0 && isTrusted(directPeer(request), proxies)

/** The network that a connection comes from; null when it is a proxy's, which speaks for many. */
export const peerNetwork = (socket: Socket, proxies: TrustedProxies): string | null => {
  const peer = peerOf(socket)
  return proxies.length > 0 && isTrusted(peer, proxies) ? null : networkOf(peer)
}

/** The network of the client that a proxy speaks for, which is trusted to; null where it does not say. */
export const networkBehind = (request: IncomingMessage, proxies: TrustedProxies): string | null => {
  const direct = directPeer(request)
  const client = forwardedAddress(header(request.headers['x-forwarded-for']), direct, proxies)
  return client === direct ? null : networkOf(client)
}

const directPeer = (request: IncomingMessage): string => peerOf(request.socket)

const peerOf = ({ remoteAddress: peer = '' }: Socket): string => (peer.startsWith('::ffff:') ? peer.slice(7) : peer)

/**
 * Where a request comes from and under which address the client knows us. `X-Forwarded-*` count only when the
 * connection comes from a trusted proxy; the client is then the last forwarded address that is no trusted proxy itself.
 */
export const clientFacts = (
  request: IncomingMessage,
  proxies: TrustedProxies,
  configuredBaseUrl: string | null,
): ClientFacts => {
  const direct = directPeer(request)
  const trusted = comesFromProxy(request, proxies)
  const host = (trusted && lastOf(request.headers['x-forwarded-host'])) || hostOf(request) || 'localhost'
  const scheme = trusted && lastOf(request.headers['x-forwarded-proto']) === 'https' ? 'https' : 'http'
  const baseUrl = configuredBaseUrl ?? `${scheme}://${host}`
  return {
    clientAddress: trusted ? forwardedAddress(header(request.headers['x-forwarded-for']), direct, proxies) : direct,
    baseUrl,
    ownOrigin: configuredBaseUrl !== null || trusted || isUnmistakable(host) ? originIn(baseUrl) : null,
    proxySends: trusted && request.headers['x-sendfile-type'] === 'X-Accel-Redirect',
    proxyFailed: trusted && request.headers['x-sendfile-type'] === 'failed',
  }
}

/** What stands before the path. */
const originIn = (address: string): string => address.split('/', 3).join('/')

/** True for a request that speaks of another client, from a peer that is not trusted to: all behind it count as one. */
export const isForwardedByStranger = (request: IncomingMessage, proxies: TrustedProxies): boolean =>
  request.headers['x-forwarded-for'] !== undefined && !comesFromProxy(request, proxies)

const forwardedAddress = (chain: string, direct: string, proxies: TrustedProxies): string => {
  for (const hop of chain.split(',').toReversed()) {
    const address = addressOfHop(hop.trim())
    if (address === null) break
    if (!isAmong(address, proxies)) return address.toString()
  }
  return direct
}

/**
 * Some proxies say the port as well, and quote that as `Forwarded` does. Without brackets IPv6 has no port: all of it
 * is address.
 */
const hopForm = /^("?)(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5}|([^"[\]]*))\1$/

/** An address in its usual form; what other readers take for another one (`010.0.0.1`, `167772161`) is none. */
const addressOfHop = (hop: string): ipaddr.IPv4 | ipaddr.IPv6 | null => {
  const [, , inBrackets, beforePort, bare] = hopForm.exec(hop) ?? []
  const text = inBrackets ?? beforePort ?? bare ?? ''
  const isSix = beforePort === undefined && ipaddr.IPv6.isValid(text)
  const isFour = inBrackets === undefined && ipaddr.IPv4.isValidFourPartDecimal(text)
  return isSix || isFour ? ipaddr.process(text) : null
}
