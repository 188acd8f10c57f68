import Type from 'typebox'
import { BodyDigestHeaders } from '../../../contract/body-digests.ts'
import { answers, defineOperation } from '../../../contract/define.ts'
import { DownloadHeaders, downloadResponses } from '../../../contract/download.ts'
import { AssetPath, ByteCount, fields, pageLimit, Sha256Text, Uuid } from '../../../contract/schemas.ts'
import { expectedRevisionMax, revisionMax } from '../../../kernel/limits/catalog.ts'
import { patterns } from '../../../kernel/names.ts'
import { RevisionView } from '../../catalog/assets/vocabulary.ts'

const path = '/api/v1/repositories/{repository}/raw/{assetPath*}'
const RawView = fields({
  path: AssetPath,
  revision: Type.Integer({ minimum: 1, maximum: revisionMax }),
  created: Type.Boolean(),
  artifact: fields({ id: Uuid, size: ByteCount, sha256: Sha256Text }),
})

const atPath = fields({ repository: Type.String(), assetPath: Type.String() })

export const putRaw = defineOperation({
  id: 'putRaw',
  method: 'PUT',
  path,
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

export const removeRaw = defineOperation({
  id: 'removeRaw',
  method: 'DELETE',
  path,
  summary: 'End a path: it shows nothing any more, and can be restored',
  surface: 'transfers',
  visibility: 'repository',
  retry: 'idempotent',
  conditions: ['resource-state'],
  access: { kind: 'repository', actions: ['asset.write'] },
  pathParameters: atPath,
  query: fields({
    expectedRevision: Type.Optional(Type.Integer({ minimum: 1, maximum: expectedRevisionMax })),
  }),
  headers: fields({
    'if-match': Type.Optional(Type.String({ description: '* or ETags, one of which the file has that is removed' })),
    'if-unmodified-since': Type.Optional(Type.String({ description: 'not replaced after this HTTP-date' })),
  }),
  responses: { 200: answers('The revision that says so', RevisionView) },
  failures: ['revision_mismatch', 'precondition_failed'],
})

export const getRaw = defineOperation({
  id: 'getRaw',
  method: 'GET',
  path,
  summary: 'Download the current revision of a path, or list a folder: an address that ends with a slash',
  surface: 'transfers',
  visibility: 'repository',
  retry: 'read',
  access: { kind: 'repository', actions: ['content.read'] },
  download: true,
  pathParameters: atPath,
  query: fields({
    after: Type.Optional(Type.String({ pattern: patterns.opaqueCursor, description: 'the next of the page before' })),
    limit: pageLimit,
  }),
  headers: fields({ ...DownloadHeaders.properties, accept: Type.Optional(Type.String()) }),
  responses: downloadResponses,
})
