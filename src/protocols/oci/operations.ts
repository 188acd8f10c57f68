import Type, { type TProperties } from 'typebox'
import { BodyDigestHeaders } from '../../contract/body-digests.ts'
import { answers, answersNothing, bytesBody, defineOperation } from '../../contract/define.ts'
import { DownloadHeaders, downloadResponses, downloadResponsesOf } from '../../contract/download.ts'
import { fields, Timestamp, text, Uuid } from '../../contract/schemas.ts'
import {
  artifactTypesMax,
  imageNameMaxCharacters,
  manifestBytesMax,
  ociMediaTypeMaxCharacters,
  tagsPerPushMax,
  tokenScopesMax,
} from '../../kernel/limits/oci.ts'
import { DigestText, ImageName, patterns } from './vocabulary.ts'

const inImage = {
  repository: Type.String(),
  name: ImageName,
}

/** What a page goes on behind: it need not be there. */
const Position = text(0, imageNameMaxCharacters)

/** Clients add parameters of their own to addresses: those that nobody knows are passed over. */
const asked = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: true })
const nothingAsked = asked({})

const image = '/v2/{repository}/{name+}'
const common = { surface: 'transfers', visibility: 'repository' } as const
const reads = { kind: 'repository', actions: ['content.read'] } as const
const readsManifests = { kind: 'repository', actions: ['content.read', 'artifact.read'] } as const
const lists = { kind: 'repository', actions: ['artifact.list'] } as const
const pushes = { kind: 'repository', actions: ['upload.create', 'upload.write', 'upload.complete'] } as const

export const getRegistryVersion = defineOperation({
  id: 'getRegistryVersion',
  method: 'GET',
  path: '/v2',
  summary: 'Find out whether this is a registry, and whether the credential is good',
  surface: 'transfers',
  visibility: 'authenticated',
  access: { kind: 'credential' },
  retry: 'read',
  query: nothingAsked,
  responses: { 200: { description: 'It is one', schema: Type.Object({}) } },
})

export const getRegistryToken = defineOperation({
  id: 'getRegistryToken',
  method: 'GET',
  path: '/v2/token',
  summary: 'Get what is shown for some minutes instead of a credential',
  surface: 'identity',
  visibility: 'authenticated',
  access: { kind: 'credential', itself: true },
  retry: 'read',
  headers: fields({ authorization: Type.Optional(Type.String()) }),
  query: asked({
    service: Type.Optional(Type.String()),
    scope: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: tokenScopesMax,
        description: 'what the client is about to do; not looked at',
      }),
    ),
  }),
  responses: {
    200: answers(
      'A token, good at `/v2` alone and as long as the credential is',
      fields({
        token: Type.String(),
        access_token: Type.String({ description: 'the same' }),
        expires_in: Type.Integer({ description: 'seconds' }),
        issued_at: Timestamp,
      }),
    ),
  },
})

export const listImages = defineOperation({
  id: 'listImages',
  method: 'GET',
  path: '/v2/_catalog',
  summary: 'List the names of images in all repositories that the caller may list',
  surface: 'transfers',
  visibility: 'authenticated',
  access: { kind: 'visible', actions: ['artifact.list'] },
  retry: 'read',
  query: asked({ n: Type.Optional(Type.Integer({ minimum: 0 })), last: Type.Optional(Position) }),
  responses: {
    200: {
      description: 'Names, by repository and then by name; `Link` leads to the next ones',
      schema: fields({ repositories: Type.Array(Type.String()) }),
    },
  },
})

const blob = {
  ...common,
  path: `${image}/blobs/{digest}`,
  pathParameters: fields({ ...inImage, digest: DigestText }),
  query: nothingAsked,
} as const

export const getBlob = defineOperation({
  ...blob,
  id: 'getBlob',
  method: 'GET',
  summary: 'Get a blob of an image by its digest, or a range of it',
  access: reads,
  retry: 'read',
  download: true,
  headers: DownloadHeaders,
  responses: downloadResponses,
})

export const deleteBlob = defineOperation({
  ...blob,
  id: 'deleteBlob',
  method: 'DELETE',
  summary: 'Delete a blob that no manifest names',
  access: { kind: 'repository', actions: ['artifact.delete'] },
  retry: 'idempotent',
  responses: { 202: answersNothing('It is gone') },
  failures: ['method_not_allowed'],
})

export const beginBlob = defineOperation({
  ...common,
  id: 'beginBlob',
  method: 'POST',
  path: `${image}/blobs/uploads`,
  summary: 'Begin the upload of a blob, send all of one at once, or mount one of another repository',
  pathParameters: fields(inImage),
  access: { ...pushes, also: { at: '/query/from', actions: ['content.read'], refusal: 'told' } },
  retry: 'never-automatic',
  headers: fields(BodyDigestHeaders),
  query: asked({
    digest: Type.Optional(DigestText),
    'digest-algorithm': Type.Optional(Type.String({ pattern: '^(?:sha256|sha512)$', description: 'sha256 or sha512' })),
    mount: Type.Optional(DigestText),
    from: Type.Optional(Type.String()),
  }),
  body: { kind: 'stream', mediaTypes: null },
  responses: {
    201: answersNothing('The blob is stored; `Location` leads to it'),
    202: answersNothing('`Location` takes its bytes'),
  },
  failures: ['size_mismatch', 'storage_quota', 'insufficient_space', 'upload_limit', 'busy'],
})

const upload = {
  ...common,
  path: `${image}/blobs/uploads/{id}`,
  // What is no id is an upload that nobody knows: 404, as clients expect it.
  pathParameters: fields({ ...inImage, id: Type.Union([Uuid, Type.String()]) }),
  query: nothingAsked,
} as const

const ChunkHeaders = fields({
  ...BodyDigestHeaders,
  'content-range': Type.Optional(
    Type.String({ pattern: patterns.chunk, description: 'the first and the last byte that is sent, such as 0-1023' }),
  ),
})

export const appendToBlob = defineOperation({
  ...upload,
  id: 'appendToBlob',
  method: 'PATCH',
  summary: 'Append to the upload of a blob',
  access: pushes,
  retry: 'reconcile-upload',
  headers: ChunkHeaders,
  body: { kind: 'stream', mediaTypes: null },
  responses: { 202: answersNothing('It is stored; `Range` says how far') },
  failures: ['size_mismatch', 'range_not_satisfiable', 'upload_state', 'storage_quota', 'insufficient_space', 'busy'],
})

export const completeBlob = defineOperation({
  ...upload,
  id: 'completeBlob',
  method: 'PUT',
  summary: 'Say what the upload of a blob is, with the last or all of its bytes',
  access: pushes,
  retry: 'reconcile-upload',
  headers: ChunkHeaders,
  query: asked({ digest: DigestText }),
  body: { kind: 'stream', mediaTypes: null },
  responses: { 201: answersNothing('The blob is stored; `Location` leads to it') },
  failures: ['size_mismatch', 'range_not_satisfiable', 'upload_state', 'storage_quota', 'insufficient_space', 'busy'],
})

export const getBlobUpload = defineOperation({
  ...upload,
  id: 'getBlobUpload',
  method: 'GET',
  summary: 'Find out how much of the upload of a blob is stored',
  access: pushes,
  retry: 'read',
  responses: { 204: answersNothing('`Range` says how much') },
})

export const cancelBlob = defineOperation({
  ...upload,
  id: 'cancelBlob',
  method: 'DELETE',
  summary: 'Cancel the upload of a blob',
  access: pushes,
  retry: 'idempotent',
  responses: { 204: answersNothing('It is cancelled') },
})

const manifest = {
  ...common,
  path: `${image}/manifests/{reference}`,
  pathParameters: fields({ ...inImage, reference: Type.String() }),
} as const

export const getManifest = defineOperation({
  ...manifest,
  id: 'getManifest',
  method: 'GET',
  summary: 'Get a manifest by its tag or digest, as it was pushed',
  access: readsManifests,
  retry: 'read',
  download: true,
  query: nothingAsked,
  headers: DownloadHeaders,
  responses: downloadResponsesOf('*/*'),
})

export const putManifest = defineOperation({
  ...manifest,
  id: 'putManifest',
  method: 'PUT',
  summary: 'Push a manifest under its digest, under a tag, or under several',
  access: pushes,
  retry: 'idempotent',
  query: asked({ tag: Type.Optional(Type.Array(Type.String(), { maxItems: tagsPerPushMax })) }),
  headers: fields(BodyDigestHeaders),
  body: bytesBody(null, manifestBytesMax),
  responses: { 201: answersNothing('It is stored; `Location` leads to it by its digest') },
  failures: ['tag_immutable', 'storage_quota', 'insufficient_space', 'busy'],
})

export const deleteManifest = defineOperation({
  ...manifest,
  id: 'deleteManifest',
  method: 'DELETE',
  summary: 'Take a tag away, or delete a manifest by its digest with all of its tags',
  access: { kind: 'repository', actions: [], oneOf: ['asset.write', 'artifact.delete'] },
  retry: 'idempotent',
  query: nothingAsked,
  responses: { 202: answersNothing('It is gone') },
  failures: ['tag_immutable'],
})

export const listTags = defineOperation({
  ...common,
  id: 'listTags',
  method: 'GET',
  path: `${image}/tags/list`,
  summary: 'List the tags of an image',
  pathParameters: fields(inImage),
  access: lists,
  retry: 'read',
  query: asked({ n: Type.Optional(Type.Integer({ minimum: 0 })), last: Type.Optional(Position) }),
  responses: {
    200: {
      description: 'Tags in the order of their bytes; `Link` leads to the next ones',
      schema: fields({ name: Type.String(), tags: Type.Array(Type.String()) }),
    },
  },
})

export const listReferrers = defineOperation({
  ...common,
  id: 'listReferrers',
  method: 'GET',
  path: `${image}/referrers/{digest}`,
  summary: 'List manifests that refer to one, such as signatures of an image',
  pathParameters: fields({ ...inImage, digest: DigestText }),
  access: readsManifests,
  retry: 'read',
  query: asked({
    artifactType: Type.Optional(Type.Array(text(0, ociMediaTypeMaxCharacters), { maxItems: artifactTypesMax })),
    last: Type.Optional(DigestText),
  }),
  responses: {
    200: {
      description: 'An image index; `Link` leads to the next ones',
      schema: null,
      mediaType: 'application/vnd.oci.image.index.v1+json',
    },
  },
})
