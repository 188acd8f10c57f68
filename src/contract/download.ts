import Type, { type Static } from 'typebox'
import type { Caller } from '../kernel/caller.ts'
import { appliedClass, downloadClasses, shareOf } from '../kernel/download-class.ts'
import { patterns } from '../kernel/names.ts'
import type { RequestFacts } from './handler.ts'
import { fields, oneOf } from './schemas.ts'

/** Headers of every download operation (specification, Download admission headers). */
export const DownloadHeaders = fields({
  range: Type.Optional(Type.String()),
  'if-range': Type.Optional(Type.String()),
  'if-match': Type.Optional(Type.String()),
  'if-none-match': Type.Optional(Type.String()),
  'if-modified-since': Type.Optional(Type.String({ description: 'an HTTP-date, where no If-None-Match is sent' })),
  'if-unmodified-since': Type.Optional(Type.String({ description: 'an HTTP-date, where no If-Match is sent' })),
  'svc-download-id': Type.Optional(
    Type.String({ pattern: patterns.downloadId, description: '16 to 64 letters, digits, _ or -' }),
  ),
  'svc-queue-ticket': Type.Optional(Type.String({ maxLength: 80 })),
  'svc-download-class': Type.Optional(oneOf(downloadClasses)),
  'svc-redirect': Type.Optional(oneOf(['never'])),
})

/** What a request asks of `content/serve.ts`: what to send, and whose turn it takes. */
export const downloadAsked = ({
  headers,
  caller,
  request,
}: {
  readonly headers: Static<typeof DownloadHeaders>
  readonly caller: Caller
  readonly request: RequestFacts
}) => ({
  head: request.head,
  proxySends: request.proxySends,
  range: headers.range,
  ifRange: headers['if-range'],
  ifMatch: headers['if-match'],
  ifNoneMatch: headers['if-none-match'],
  ifModifiedSince: headers['if-modified-since'],
  ifUnmodifiedSince: headers['if-unmodified-since'],
  downloadClass: appliedClass(caller, headers['svc-download-class']),
  id: headers['svc-download-id'],
  ticket: headers['svc-queue-ticket'],
  // A page in a browser may read from here and from nowhere else.
  staysHere: headers['svc-redirect'] === 'never',
  caller: shareOf(caller),
  scope: request.scope,
  hangUp: request.hangUp,
  admitAgain: request.admitAgain,
})

/** What a download answers, of a media type; the star where each file has its own. */
export const downloadResponsesOf = <const M extends string>(mediaType: M) =>
  ({
    200: { schema: null, mediaType, description: 'The whole file' },
    206: { schema: null, mediaType, description: 'The range that was asked for' },
    304: { schema: null, description: 'The file is the one that the client has' },
    307: { schema: null, description: 'The object store sends the file, where the operator allows that' },
  }) as const

export const downloadResponses = downloadResponsesOf('application/octet-stream')
