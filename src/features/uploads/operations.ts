import Type from 'typebox'
import { answers, defineOperation, jsonBody } from '../../contract/define.ts'
import { fields, IdempotencyKey, inRepository, Uuid } from '../../contract/schemas.ts'
import { ArtifactRecord, NewDescriptor } from './descriptor.ts'

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
  failures: ['idempotency_mismatch', 'storage_quota', 'insufficient_space', 'busy'],
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
