import secureJson from 'secure-json-parse'
import { Failure } from '../../kernel/failure.ts'
import { repeatedName } from '../../kernel/repeated-names.ts'

/** Turns whatever was thrown into a failure that may be shown. What has no name becomes `internal`, with its cause. */
export const toFailure = (error: unknown, translate: (error: unknown) => Failure | null): Failure => {
  if (error instanceof Failure) return error
  const known = translate(error)
  if (known !== null) return known
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Failure('body_too_large', 'The body is larger than this operation takes.')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Failure(
        'unsupported_media_type',
        'Content-Type is none that this operation takes: JSON is application/json, and a file bears a media type such as text/plain.',
      )
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Failure('invalid_request', 'The body and its Content-Length differ.')
    case 'FST_ERR_BAD_URL':
      return new Failure(
        'invalid_request',
        'The target must be a path in percent-encoded UTF-8, or such a path behind a whole address of http.',
      )
    case 'ECONNRESET':
    case 'ECONNABORTED':
      return new Failure('invalid_request', 'The connection was closed before the request was complete.')
    default:
      return new Failure('internal', 'This is a fault of the service. Tell its operator the request id.', {
        cause: error,
      })
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * JSON (RFC 8259) in UTF-8; undefined for an empty body. Anything that is not well-formed is refused, also keys that
 * reach for prototypes, and one name twice in an object.
 */
export const parseJson = (body: Uint8Array): unknown => {
  if (body.byteLength === 0) return undefined
  const { value, text } = parsed(body)
  const twice = repeatedName(text)
  if (twice === null) return value
  const shown = JSON.stringify(twice.slice(0, shownNameCharacters))
  throw new Failure(
    'invalid_request',
    `The body has the field ${shown} twice in one object; say which value is meant.`,
    {
      details: [{ pointer: '', message: `must not have the field ${shown} twice in one object` }],
    },
  )
}

const shownNameCharacters = 100

const parsed = (body: Uint8Array): { value: unknown; text: string } => {
  try {
    const text = utf8.decode(body)
    return { value: secureJson.parse(text), text }
  } catch (error) {
    const why = error instanceof Error ? error.message : 'not JSON'
    throw new Failure('invalid_request', `The body is not valid JSON in UTF-8: ${why}`, {
      details: [{ pointer: '', message: 'must be valid JSON in UTF-8' }],
    })
  }
}
