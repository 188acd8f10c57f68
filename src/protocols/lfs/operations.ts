import Type, { type TProperties } from 'typebox'
import { BodyDigestHeaders } from '../../contract/body-digests.ts'
import { answersNothing, bytesBody, defineOperation } from '../../contract/define.ts'
import { DownloadHeaders, downloadResponses } from '../../contract/download.ts'
import { fields, text } from '../../contract/schemas.ts'
import { batchBytesMax, lfsBodyBytesMax, subPathMaxCharacters } from '../../kernel/limits/lfs.ts'
import { BatchAnswer, lfsMediaType, Oid, patterns } from './vocabulary.ts'

const common = { surface: 'transfers', visibility: 'repository' } as const
const reads = { kind: 'repository', actions: ['content.read'] } as const
const pushes = { kind: 'repository', actions: ['upload.create', 'upload.write', 'upload.complete'] } as const

/** What addresses are for: an object, and one way. */
export const passWays = {
  download: { way: 'download', to: ['repository', 'oid'] },
  upload: { way: 'upload', to: ['repository', 'oid'] },
} as const

/** Parameters that nobody knows are passed over. */
const asked = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: true })

/**
 * Clients are given the address of a repository with anything behind it: each Git repository may have one of its own.
 * Objects are those of the repository.
 */
const below = fields({ repository: Type.String(), subPath: text(0, subPathMaxCharacters) })
const lfs = '/lfs/{repository}/{subPath+}'

const said = <S extends TProperties[string]>(description: string, schema: S) =>
  ({ description, schema, mediaType: lfsMediaType }) as const

export const askLfsBatch = defineOperation({
  ...common,
  id: 'askLfsBatch',
  method: 'POST',
  path: `${lfs}/objects/batch`,
  summary: 'Ask where some objects are, or where they may be sent to',
  pathParameters: below,
  query: asked({}),
  access: { kind: 'repository', actions: [], oneOf: ['content.read', 'upload.create'] },
  openToReadTokens: true,
  openOnReaders: true,
  retry: 'read',
  body: bytesBody(null, batchBytesMax),
  responses: { 200: said('What to do for each of them, or why nothing can be done', BatchAnswer) },
  failures: ['already_exists', 'method_not_allowed'],
})

const ByteLength = Type.Integer({ minimum: 0, description: 'how many bytes the object has' })

const object = {
  ...common,
  path: '/lfs/{repository}/objects/{oid}/content',
  pathParameters: fields({ repository: Type.String(), oid: Oid }),
} as const

export const getLfsObject = defineOperation({
  ...object,
  id: 'getLfsObject',
  method: 'GET',
  summary: 'Get an object, or a range of it',
  access: reads,
  passFor: passWays.download,
  retry: 'read',
  download: true,
  query: asked({}),
  headers: DownloadHeaders,
  responses: downloadResponses,
  failures: ['address_expired'],
})

export const putLfsObject = defineOperation({
  ...object,
  id: 'putLfsObject',
  method: 'PUT',
  summary: 'Send an object whole',
  access: pushes,
  passFor: passWays.upload,
  retry: 'idempotent',
  query: asked({ size: Type.Optional(ByteLength) }),
  headers: fields(BodyDigestHeaders),
  body: { kind: 'stream', mediaTypes: null },
  responses: { 200: said('It is stored', Type.Object({})) },
  failures: [
    'checksum_mismatch',
    'size_mismatch',
    'storage_quota',
    'insufficient_space',
    'upload_limit',
    'busy',
    'address_expired',
  ],
})

const resumed = {
  ...common,
  path: '/lfs/{repository}/objects/{oid}/rest',
  pathParameters: fields({ repository: Type.String(), oid: Oid }),
  access: pushes,
  passFor: passWays.upload,
  query: asked({ size: ByteLength }),
} as const

export const getLfsUpload = defineOperation({
  ...resumed,
  id: 'getLfsUpload',
  method: 'GET',
  summary: 'Find out how much of an object is stored that was cut',
  retry: 'read',
  responses: { 204: answersNothing('`Upload-Offset` says how much') },
  failures: ['address_expired'],
})

export const appendToLfsObject = defineOperation({
  ...resumed,
  id: 'appendToLfsObject',
  method: 'PATCH',
  summary: 'Send the rest of an object (tus)',
  retry: 'reconcile-upload',
  headers: fields({
    ...BodyDigestHeaders,
    'upload-offset': Type.String({ pattern: patterns.offset, description: 'where the body goes on, such as 0' }),
  }),
  body: { kind: 'stream', mediaTypes: null },
  responses: { 204: answersNothing('`Upload-Offset` says how much is stored; with the last byte the object is there') },
  failures: [
    'upload_state',
    'checksum_mismatch',
    'size_mismatch',
    'storage_quota',
    'insufficient_space',
    'upload_limit',
    'busy',
    'address_expired',
  ],
})

export const verifyLfsObject = defineOperation({
  ...object,
  id: 'verifyLfsObject',
  method: 'POST',
  path: '/lfs/{repository}/objects/{oid}/check',
  summary: 'Find out whether an object came as it was sent',
  access: pushes,
  passFor: passWays.upload,
  retry: 'read',
  query: asked({}),
  body: bytesBody(null, lfsBodyBytesMax),
  responses: { 200: said('It is there, and has the size', Type.Object({})) },
  failures: ['size_mismatch', 'address_expired'],
})
