import type { IncomingMessage } from 'node:http'
import { Failure } from '../../kernel/failure.ts'

/** A target that is a whole address, as for a proxy (RFC 9112, section 3.2.2): its authority. */
const wholeAddress = /^https?:\/\/([^/?#]*)/i

const authorityOf = (url: string): RegExpExecArray | null => (url.startsWith('/') ? null : wholeAddress.exec(url))

/** Whom a request is for: the authority of a target that is a whole address, whatever Host says beside it. */
export const hostOf = ({ url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>): string | undefined =>
  authorityOf(url)?.[1] ?? headers.host

/** The path of a request target, and its query, however the target is written. */
export const pathOf = (url: string): string => {
  const [whole = ''] = authorityOf(url) ?? []
  return whole === '' ? url : url.slice(whole.length).replace(/^(?!\/)/, '/')
}

/**
 * 400 for a target that is neither a path nor a whole address, nor the star of OPTIONS (RFC 9112, section 3.2), and for
 * a number sign in it: what stands behind would be no part of the path, which is then another one than was meant.
 */
export const refuseWrongTarget = ({ url = '' }: Pick<IncomingMessage, 'url'>): void => {
  if (url.includes('#'))
    throw refused('The target of a request has no #; write %23 where it is part of a name, and leave a fragment away.')
  if (!url.startsWith('/') && url !== '*' && authorityOf(url) === null)
    throw refused('The target of a request is a path, or a whole address that begins with http:// or https://.')
}

const refused = (detail: string): Failure =>
  new Failure('invalid_request', detail, { headers: { connection: 'close' } })
