import Type from 'typebox'
import { BodyDigestHeaders } from '../../../contract/body-digests.ts'
import { answers, answersNothing, defineOperation, jsonBody } from '../../../contract/define.ts'
import {
  ByteCount,
  fields,
  IdCursor,
  IdempotencyKey,
  inRepository,
  nullable,
  OrderOfTime,
  oneOf,
  pageLimit,
  RepositoryId,
  Sha256Text,
  Timestamp,
  Uuid,
} from '../../../contract/schemas.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { partBytesMax, partBytesMin, partsMax } from '../../../kernel/limits/transfers.ts'
import { ArtifactRecord, NewDescriptor } from '../../catalog/artifacts/vocabulary.ts'
import { CompletionJob } from './vocabulary.ts'

const base = '/api/v1/repositories/{repository}/uploads'
const one = fields({ repository: Type.String(), id: Uuid })

export const createUpload = defineOperation({
  id: 'createUpload',
  method: 'POST',
  path: base,
  summary: 'Open an upload session and reserve its size',
  surface: 'transfers',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['upload.create'] },
  retry: 'idempotency-key',
  pathParameters: inRepository,
  headers: fields({ 'idempotency-key': IdempotencyKey }),
  body: jsonBody(NewDescriptor),
  responses: {
    201: answers('The new session', ArtifactRecord, { Location: 'Path of the session' }),
    200: answers('The session that this key opened before', ArtifactRecord, { Location: 'Path of the session' }),
  },
  failures: ['idempotency_mismatch', 'storage_quota', 'insufficient_space', 'upload_limit', 'busy'],
})

export const getUpload = defineOperation({
  id: 'getUpload',
  method: 'GET',
  path: `${base}/{id}`,
  summary: 'Read an upload session',
  surface: 'transfers',
  visibility: 'owned-resource',
  access: { kind: 'repository', actions: ['upload.read'] },
  retry: 'read',
  conditions: ['upload-owner'],
  pathParameters: one,
  responses: { 200: answers('The session', ArtifactRecord) },
})

export const cancelUpload = defineOperation({
  id: 'cancelUpload',
  method: 'DELETE',
  path: `${base}/{id}`,
  summary: 'Cancel an upload session',
  surface: 'transfers',
  visibility: 'owned-resource',
  access: { kind: 'repository', actions: ['upload.cancel'] },
  retry: 'reconcile-upload',
  conditions: ['upload-owner', 'resource-state'],
  pathParameters: one,
  responses: { 200: answers('The cancelled session', ArtifactRecord) },
  failures: ['upload_state'],
})

export const putUploadContent = defineOperation({
  id: 'putUploadContent',
  method: 'PUT',
  path: `${base}/{id}/content`,
  summary: 'Send the whole file and publish it',
  surface: 'transfers',
  visibility: 'owned-resource',
  access: { kind: 'repository', actions: ['upload.write', 'upload.complete'] },
  retry: 'reconcile-upload',
  conditions: ['upload-owner', 'resource-state'],
  pathParameters: one,
  headers: fields(BodyDigestHeaders),
  body: { kind: 'stream', mediaTypes: ['application/octet-stream'] },
  responses: { 200: answers('The published upload', ArtifactRecord) },
  failures: [
    'upload_state',
    'size_mismatch',
    'checksum_mismatch',
    'unsupported_media_type',
    'busy',
    'insufficient_space',
  ],
})

const Part = fields({
  index: Type.Integer({ minimum: 0, maximum: partsMax - 1 }),
  size: Type.Integer({ minimum: 1, maximum: partBytesMax }),
  sha256: Sha256Text,
})

const Parts = fields({
  partBytes: Type.Integer({ minimum: partBytesMin, maximum: partBytesMax }),
  items: Type.Array(Part, { maxItems: partsMax }),
})

const PartIndex = Type.String({ pattern: '^(0|[1-9][0-9]{0,3})$', description: 'a whole number from 0 to 9999' })

export const listUploadParts = defineOperation({
  id: 'listUploadParts',
  method: 'GET',
  path: `${base}/{id}/parts`,
  summary: 'List the stored parts of an upload session',
  surface: 'transfers',
  visibility: 'owned-resource',
  access: { kind: 'repository', actions: ['upload.read'] },
  retry: 'read',
  conditions: ['upload-owner'],
  pathParameters: one,
  responses: { 200: answers('How the file is cut, and what is stored of it', Parts) },
})

export const putUploadPart = defineOperation({
  id: 'putUploadPart',
  method: 'PUT',
  path: `${base}/{id}/parts/{index}`,
  summary: 'Send one part of the file',
  surface: 'transfers',
  visibility: 'owned-resource',
  access: { kind: 'repository', actions: ['upload.write'] },
  retry: 'reconcile-upload',
  conditions: ['upload-owner', 'resource-state'],
  pathParameters: fields({ repository: Type.String(), id: Uuid, index: PartIndex }),
  headers: fields({ 'x-content-sha256': Sha256Text, ...BodyDigestHeaders }),
  body: { kind: 'stream', mediaTypes: ['application/octet-stream'] },
  responses: { 204: answersNothing('The part is stored') },
  failures: [
    'upload_state',
    'part_mismatch',
    'size_mismatch',
    'checksum_mismatch',
    'unsupported_media_type',
    'busy',
    'insufficient_space',
  ],
})

export const completeUpload = defineOperation({
  id: 'completeUpload',
  method: 'POST',
  path: `${base}/{id}/complete`,
  summary: 'Publish a file whose parts are all stored',
  surface: 'transfers',
  visibility: 'owned-resource',
  access: { kind: 'repository', actions: ['upload.complete'] },
  retry: 'reconcile-upload',
  conditions: ['upload-owner', 'resource-state'],
  pathParameters: one,
  responses: { 200: answers('The published upload', ArtifactRecord) },
  failures: ['upload_state', 'parts_incomplete', 'checksum_mismatch', 'busy', 'queue_full', 'insufficient_space'],
})

export const completeUploadAsync = defineOperation({
  id: 'completeUploadAsync',
  method: 'POST',
  path: `${base}/{id}/complete-async`,
  summary: 'Have a file published whose parts are all stored',
  surface: 'transfers',
  visibility: 'owned-resource',
  access: { kind: 'repository', actions: ['upload.complete'] },
  retry: 'reconcile-job',
  conditions: ['upload-owner', 'resource-state'],
  pathParameters: one,
  responses: { 202: answers('The job, which may have ended already', CompletionJob, { Location: 'Path of the job' }) },
  failures: ['upload_state', 'parts_incomplete', 'queue_full'],
})

export const getJob = defineOperation({
  id: 'getJob',
  method: 'GET',
  path: '/api/v1/jobs/{id}',
  summary: 'Read a completion job',
  surface: 'transfers',
  visibility: 'owned-resource',
  access: { kind: 'own-job', action: 'job.read' },
  retry: 'read',
  conditions: ['job-owner'],
  pathParameters: fields({ id: Uuid }),
  responses: { 200: answers('The job', CompletionJob) },
})

const administered = { surface: 'operations', visibility: 'administrator', access: { kind: 'administrator' } } as const

export const listOpenUploads = defineOperation({
  ...administered,
  id: 'listOpenUploads',
  method: 'GET',
  path: '/api/v1/uploads',
  summary: 'List the uploads of everyone that are under way: whose they are and what they take',
  retry: 'read',
  query: fields({ after: Type.Optional(IdCursor), limit: pageLimit, order: OrderOfTime }),
  responses: {
    200: answers(
      'A page ordered by id',
      fields({
        items: Type.Array(
          fields({
            id: Uuid,
            repository: RepositoryId,
            kind: oneOf(['session', 'raw', 'appended'] as const),
            owner: Type.String(),
            reservedBytes: ByteCount,
            storedBytes: ByteCount,
            sending: Type.Boolean(),
            createdAt: Timestamp,
            expiresAt: Timestamp,
          }),
          { maxItems: pageMax },
        ),
        next: nullable(IdCursor),
      }),
    ),
  },
})

export const cancelAnyUpload = defineOperation({
  ...administered,
  id: 'cancelAnyUpload',
  method: 'DELETE',
  path: '/api/v1/uploads/{id}',
  summary: 'Cancel an upload, whoever began it',
  retry: 'idempotent',
  conditions: ['resource-state'],
  pathParameters: fields({ id: Uuid }),
  responses: { 204: answersNothing('The upload is cancelled, and was before if this is asked again') },
  failures: ['not_found', 'upload_state'],
})

const ownPage = fields({ after: Type.Optional(IdCursor), limit: pageLimit, order: OrderOfTime })

export const listOwnUploads = defineOperation({
  id: 'listOwnUploads',
  method: 'GET',
  path: '/api/v1/uploads/own',
  summary: 'List the upload sessions that you have open, in all repositories',
  surface: 'transfers',
  visibility: 'owned-resource',
  access: { kind: 'visible', actions: ['upload.read'] },
  retry: 'read',
  query: ownPage,
  responses: {
    200: answers(
      'A page ordered by id, with how much of each is stored; go on while there is a `next`, also after a page that is short',
      fields({
        items: Type.Array(fields({ ...ArtifactRecord.properties, storedBytes: ByteCount }), { maxItems: pageMax }),
        next: nullable(IdCursor),
      }),
    ),
  },
})

export const listOwnJobs = defineOperation({
  id: 'listOwnJobs',
  method: 'GET',
  path: '/api/v1/jobs',
  summary: 'List the completion jobs that you asked for, in all repositories',
  surface: 'transfers',
  visibility: 'owned-resource',
  access: { kind: 'visible', actions: ['job.read'] },
  retry: 'read',
  query: ownPage,
  responses: {
    200: answers(
      'A page ordered by id; go on while there is a `next`, also after a page that is short',
      fields({ items: Type.Array(CompletionJob, { maxItems: pageMax }), next: nullable(IdCursor) }),
    ),
  },
})
