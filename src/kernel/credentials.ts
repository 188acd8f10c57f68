/** How credentials begin, so that scanners and people recognise them. */
export const prefixes = { session: 'dps_', token: 'pat_', service: 'svc_', link: 'dtl_', pass: 'dpp_' } as const

/** A character of a secret, also as it may be encoded in an address. */
const character = String.raw`(?:[\w-]|%(?:2d|3\d|5f|[46][1-9a-f]|[57][0-9a]))`

/**
 * So many of a secret that it is no name; or half as many where a text was cut. Of tokens the first eight are shown.
 */
const secret = `(?:${character}{32,}|${character}{16,}(?=…))`

const kinds = Object.values(prefixes).map((prefix) => prefix.slice(0, -1))
const credential = new RegExp(`(${kinds.join('|')})(?:_|%5f)(?:[0-9a-f-]{36}(?:\\.|%2e))?${secret}`, 'gi')

/**
 * A text in which of whatever has the form of a session, a personal token, a service key, a link or a pass only the
 * kind is left: `pat_…`. Keys of the keys file have no form of their own.
 */
export const withoutCredentials = (text: string): string => text.replaceAll(credential, '$1_…')
