import Type from 'typebox'
import { downloadClasses } from '../kernel/download-class.ts'
import { patterns } from '../kernel/names.ts'
import { fields, oneOf } from './schemas.ts'

/** Headers of every download operation (specification, Download admission headers). */
export const DownloadHeaders = fields({
  range: Type.Optional(Type.String()),
  'if-range': Type.Optional(Type.String()),
  'if-none-match': Type.Optional(Type.String()),
  'svc-download-id': Type.Optional(
    Type.String({ pattern: patterns.downloadId, description: '16 to 64 letters, digits, _ or -' }),
  ),
  'svc-queue-ticket': Type.Optional(Type.String({ maxLength: 80 })),
  'svc-download-class': Type.Optional(oneOf(downloadClasses)),
})

/** The part of the headers that decides what is sent. */
export const conditionsOf = (headers: {
  range?: string
  'if-range'?: string
  'if-none-match'?: string
}): { range: string | undefined; ifRange: string | undefined; ifNoneMatch: string | undefined } => ({
  range: headers.range,
  ifRange: headers['if-range'],
  ifNoneMatch: headers['if-none-match'],
})

const bytes = { schema: null, mediaType: 'application/octet-stream' } as const

export const downloadResponses = {
  200: { ...bytes, description: 'The whole file' },
  206: { ...bytes, description: 'The range that was asked for' },
  304: { schema: null, description: 'The file is the one that the client has' },
} as const
