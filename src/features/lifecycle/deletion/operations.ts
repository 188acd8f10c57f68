import Type from 'typebox'
import { answers, defineOperation, jsonBody } from '../../../contract/define.ts'
import {
  ByteCount,
  fields,
  inRepository,
  nullable,
  OpaqueCursor,
  OrderOfTime,
  oneOf,
  pageLimit,
  Sha256Text,
  Timestamp,
  text,
  Uuid,
} from '../../../contract/schemas.ts'
import { artifactNameMaxCharacters, pageMax, revisionMax } from '../../../kernel/limits/catalog.ts'
import { blockersToldMax } from '../../../kernel/limits/lifecycle.ts'
import { ArtifactRecord } from '../../catalog/artifacts/vocabulary.ts'
import { blockers, outcomes } from './vocabulary.ts'

const one = '/api/v1/repositories/{repository}/artifacts/{id}'
const ofFile = {
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['artifact.delete'] },
  pathParameters: fields({ repository: Type.String(), id: Uuid }),
} as const

const Revision = Type.Integer({ minimum: 0, maximum: revisionMax })
const Blockers = Type.Array(oneOf(blockers), { maxItems: blockersToldMax, uniqueItems: true })

export const checkArtifactDeletion = defineOperation({
  ...ofFile,
  id: 'checkArtifactDeletion',
  retry: 'read',
  method: 'GET',
  path: `${one}/deletion`,
  summary: 'See what stands in the way of deleting a file',
  responses: {
    200: answers(
      'What deleting would meet; nothing changes',
      fields({
        id: Uuid,
        name: text(1, artifactNameMaxCharacters),
        size: ByteCount,
        publishedAt: Timestamp,
        annotationRevision: Revision,
        blockers: Blockers,
      }),
    ),
  },
})

export const deleteArtifact = defineOperation({
  ...ofFile,
  id: 'deleteArtifact',
  method: 'DELETE',
  path: one,
  summary: 'Delete a file; until the grace period is over it can be brought back',
  retry: 'idempotent',
  body: jsonBody(fields({ expectedAnnotationRevision: Revision })),
  responses: {
    200: answers(
      'What became of it, and until when it can be brought back',
      fields({ id: Uuid, outcome: oneOf(outcomes), blockers: Blockers, restorableUntil: nullable(Timestamp) }),
    ),
  },
})

export const restoreArtifact = defineOperation({
  ...ofFile,
  id: 'restoreArtifact',
  method: 'POST',
  path: `${one}/restore`,
  summary: 'Bring a deleted file back while its grace period lasts',
  retry: 'idempotent',
  responses: { 200: answers('The record, as it was', ArtifactRecord) },
  failures: ['version_exists'],
})

const deleted = '/api/v1/repositories/{repository}/deleted-artifacts'

const DeletedFile = fields({
  id: Uuid,
  name: text(1, artifactNameMaxCharacters),
  size: ByteCount,
  sha256: Sha256Text,
  publishedAt: Timestamp,
  deletedAt: Timestamp,
  restorableUntil: Timestamp,
})

export const listDeletedArtifacts = defineOperation({
  id: 'listDeletedArtifacts',
  method: 'GET',
  path: deleted,
  summary: 'List deleted files that can still be brought back',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['artifact.list', 'asset.restore'] },
  retry: 'read',
  pathParameters: inRepository,
  query: fields({ after: Type.Optional(OpaqueCursor), limit: pageLimit, order: OrderOfTime }),
  responses: {
    200: answers(
      'A page by the time of their deletion; each can surely be brought back until `restorableUntil`',
      fields({ items: Type.Array(DeletedFile, { maxItems: pageMax }), next: nullable(OpaqueCursor) }),
    ),
  },
})

export const restoreDeletedArtifact = defineOperation({
  id: 'restoreDeletedArtifact',
  method: 'POST',
  path: `${deleted}/{id}/restore`,
  summary: 'Bring a deleted file back, as whoever writes to the repository may',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['artifact.read', 'asset.restore'] },
  retry: 'idempotent',
  pathParameters: fields({ repository: Type.String(), id: Uuid }),
  responses: { 200: answers('The record, as it was', ArtifactRecord) },
  failures: ['version_exists'],
})
