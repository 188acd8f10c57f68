import type { IncomingMessage } from 'node:http'
import { Failure } from '../../kernel/failure.ts'

/**
 * A body comes as it is or in chunks. 501 `not_implemented` for any other transfer coding (RFC 9112, section 6.1),
 * whose bytes would otherwise be taken for those of the file; 400 for one of HTTP/1.0, which has none, and whose bodies
 * others read to another end.
 */
export const refuseCodings = ({ headers, httpVersion }: IncomingMessage): void => {
  const codings = headers['transfer-encoding']
  if (codings === undefined) return
  const extras = { headers: { connection: 'close' } }
  if (httpVersion === '1.0')
    throw new Failure('invalid_request', 'A request of HTTP/1.0 has no Transfer-Encoding; send Content-Length.', extras)
  if (codings.toLowerCase() !== 'chunked')
    throw new Failure('not_implemented', 'The only Transfer-Encoding that is taken here is chunked, once.', extras)
}
