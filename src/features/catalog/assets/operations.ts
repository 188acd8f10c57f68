import Type from 'typebox'
import { BodyDigestHeaders } from '../../../contract/body-digests.ts'
import { answers, defineOperation, jsonBody } from '../../../contract/define.ts'
import { DownloadHeaders, downloadResponses } from '../../../contract/download.ts'
import {
  AssetPath,
  ByteCount,
  fields,
  inRepository,
  nullable,
  pageLimit,
  Sha256Text,
  Timestamp,
  text,
  Uuid,
} from '../../../contract/schemas.ts'
import { assetHistoryPage, assetPathMaxCharacters, expectedRevisionMax, revisionMax } from '../../../kernel/limits.ts'
import { patterns } from '../../../kernel/names.ts'

const base = '/api/v1/repositories/{repository}'
const read = { surface: 'catalog', visibility: 'repository', retry: 'read' } as const
const Prefix = Type.Optional(text(0, assetPathMaxCharacters))
const Revision = Type.Integer({ minimum: 1, maximum: revisionMax })

const AssetView = fields({ path: AssetPath, revision: Revision, artifactId: Uuid })
const RevisionView = fields({
  path: AssetPath,
  revision: Revision,
  artifactId: Uuid,
  actor: nullable(Type.String()),
  createdAt: nullable(Timestamp),
  sourceRevision: nullable(Revision),
})

export const listAssets = defineOperation({
  ...read,
  id: 'listAssets',
  method: 'GET',
  path: `${base}/assets`,
  summary: 'List file paths under a prefix',
  access: { kind: 'repository', actions: ['asset.read'] },
  pathParameters: inRepository,
  query: fields({ prefix: Prefix }),
  responses: {
    200: answers('Up to 1,000 paths in order', fields({ items: Type.Array(AssetView, { maxItems: 1000 }) })),
  },
})

export const listAssetPage = defineOperation({
  ...read,
  id: 'listAssetPage',
  method: 'GET',
  path: `${base}/assets/page`,
  summary: 'List file paths under a prefix, page by page',
  access: { kind: 'repository', actions: ['asset.read'] },
  pathParameters: inRepository,
  query: fields({
    prefix: Prefix,
    after: Type.Optional(Type.String({ pattern: patterns.opaqueCursor, description: 'the next of the page before' })),
    limit: pageLimit,
  }),
  responses: {
    200: answers(
      'A page in UTF-8 byte order',
      fields({ items: Type.Array(AssetView, { maxItems: 100 }), next: nullable(Type.String()) }),
    ),
  },
})

export const getAsset = defineOperation({
  ...read,
  id: 'getAsset',
  method: 'GET',
  path: `${base}/asset`,
  summary: 'Read the current revision of a path',
  access: { kind: 'repository', actions: ['asset.read'] },
  pathParameters: inRepository,
  query: fields({ path: AssetPath }),
  responses: { 200: answers('The revision', AssetView) },
})

export const putAsset = defineOperation({
  id: 'putAsset',
  method: 'PUT',
  path: `${base}/asset`,
  summary: 'Point a path at a published file',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['asset.write', 'artifact.read'] },
  retry: 'compare-and-swap',
  conditions: ['resource-state'],
  pathParameters: inRepository,
  body: jsonBody(
    fields({
      path: AssetPath,
      artifactId: Uuid,
      expectedRevision: Type.Integer({ minimum: 0, maximum: expectedRevisionMax }),
    }),
  ),
  responses: { 200: answers('The new revision', AssetView) },
  failures: ['revision_mismatch'],
})

export const listAssetHistory = defineOperation({
  ...read,
  id: 'listAssetHistory',
  method: 'GET',
  path: `${base}/asset/history`,
  summary: 'List the revisions of a path, newest first',
  access: { kind: 'repository', actions: ['asset.read'] },
  pathParameters: inRepository,
  query: fields({ path: AssetPath, before: Type.Optional(Revision) }),
  responses: {
    200: answers(
      'A page; `next` is the `before` of the next one',
      fields({ items: Type.Array(RevisionView, { maxItems: assetHistoryPage }), next: nullable(Revision) }),
    ),
  },
})

export const getAssetRevision = defineOperation({
  ...read,
  id: 'getAssetRevision',
  method: 'GET',
  path: `${base}/asset/revision`,
  summary: 'Read one revision of a path',
  access: { kind: 'repository', actions: ['asset.read'] },
  pathParameters: inRepository,
  query: fields({ path: AssetPath, revision: Revision }),
  responses: { 200: answers('The revision, with who made it and when', RevisionView) },
})

export const restoreAsset = defineOperation({
  id: 'restoreAsset',
  method: 'POST',
  path: `${base}/asset/restore`,
  summary: 'Make an old revision of a path the newest again',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['asset.restore', 'asset.read', 'artifact.read'] },
  retry: 'compare-and-swap',
  conditions: ['resource-state'],
  pathParameters: inRepository,
  body: jsonBody(
    fields({
      path: AssetPath,
      sourceRevision: Revision,
      expectedRevision: Type.Integer({ minimum: 1, maximum: expectedRevisionMax }),
    }),
  ),
  responses: { 200: answers('The new revision, which shows the file of the old one', RevisionView) },
  failures: ['revision_mismatch'],
})

export const getAssetContent = defineOperation({
  ...read,
  id: 'getAssetContent',
  method: 'GET',
  path: `${base}/asset/content`,
  summary: 'Download the file that a path shows now',
  surface: 'transfers',
  access: { kind: 'repository', actions: ['content.read'] },
  download: true,
  pathParameters: inRepository,
  query: fields({ path: AssetPath }),
  headers: DownloadHeaders,
  responses: downloadResponses,
})

const RawView = fields({
  path: AssetPath,
  revision: Revision,
  created: Type.Boolean(),
  artifact: fields({ id: Uuid, size: ByteCount, sha256: Sha256Text }),
})

const atPath = fields({ repository: Type.String(), assetPath: Type.String() })

export const putRaw = defineOperation({
  id: 'putRaw',
  method: 'PUT',
  path: `${base}/raw/{assetPath*}`,
  summary: 'Store a file under a path in one request',
  surface: 'transfers',
  visibility: 'repository',
  access: {
    kind: 'repository',
    actions: ['upload.create', 'upload.write', 'upload.complete', 'asset.read', 'asset.write', 'artifact.read'],
  },
  retry: 'idempotent',
  conditions: ['resource-state'],
  pathParameters: atPath,
  headers: fields({
    'x-checksum-sha256': Type.Optional(
      Type.String({ pattern: '^[0-9a-fA-F]{64}$', description: '64 hexadecimal digits' }),
    ),
    'if-none-match': Type.Optional(
      Type.String({ pattern: '^\\*$', description: '* (nothing else is supported here)' }),
    ),
    'if-match': Type.Optional(Type.String({ description: '* or ETags, one of which the file has that is replaced' })),
    'if-unmodified-since': Type.Optional(Type.String({ description: 'not replaced after this HTTP-date' })),
    ...BodyDigestHeaders,
  }),
  body: { kind: 'stream', mediaTypes: null },
  responses: {
    201: answers('A new revision', RawView),
    200: answers('The path held these bytes already', RawView),
  },
  failures: [
    'revision_mismatch',
    'already_exists',
    'size_mismatch',
    'checksum_mismatch',
    'storage_quota',
    'insufficient_space',
    'busy',
  ],
})

export const getRaw = defineOperation({
  ...read,
  id: 'getRaw',
  method: 'GET',
  path: `${base}/raw/{assetPath*}`,
  summary: 'Download the current revision of a path',
  surface: 'transfers',
  access: { kind: 'repository', actions: ['content.read'] },
  download: true,
  pathParameters: atPath,
  headers: DownloadHeaders,
  responses: downloadResponses,
})
