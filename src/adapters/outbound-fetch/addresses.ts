import { outboundRedirectsMax, outboundUrlMaxCharacters } from '../../kernel/limits/outbound.ts'
import { OutboundFailure, type OutboundRequest } from '../../ports/outbound-http.ts'
import type { Target } from './connecting.ts'
import { failed } from './failures.ts'

/** The address of a request. What is none, or has a name and a password in it, is not asked. */
export const addressOf = ({ url: text }: Pick<OutboundRequest, 'url'>): URL => {
  const url = URL.parse(text)
  if (url === null || text.length > outboundUrlMaxCharacters || !isAsked(url))
    throw new OutboundFailure('blocked', 'an address', 'it is none of http:// or https:// without a user name')
  return url
}

const isAsked = ({ protocol, username, password, hostname }: URL): boolean =>
  (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' && hostname !== ''

export const redirectsOf = ({ method, redirectsMax = 0 }: OutboundRequest): number =>
  method === 'GET' || method === 'HEAD' ? Math.min(redirectsMax, outboundRedirectsMax) : 0

/** As much of an answer as says where it leads. */
export interface Leading {
  readonly statusCode?: number | undefined
  readonly headers: { readonly location?: string | undefined }
}

const redirects: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308])

/**
 * Where an answer leads to; null when it is the one that was asked for. From HTTPS never to plain HTTP. Whether the
 * address may be asked is not looked at here: each one is, before it is.
 */
export const leadsTo = (response: Leading, { url, attempt }: Target, left: number): URL | null => {
  if (!redirects.has(response.statusCode)) return null
  const { location } = response.headers
  const next = location === undefined || location.length > outboundUrlMaxCharacters ? null : URL.parse(location, url)
  if (next === null || !isAsked(next)) throw failed(attempt, 'redirect', 'it redirects to what is no address')
  if (left <= 0) throw failed(attempt, 'redirect', `it redirects to ${next.origin}, which is not followed`)
  if (url.protocol === 'https:' && next.protocol === 'http:')
    throw failed(attempt, 'redirect', `it redirects to ${next.origin}, without TLS`)
  return next
}
