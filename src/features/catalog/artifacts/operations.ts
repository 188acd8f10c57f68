import Type from 'typebox'
import { answers, defineOperation, jsonBody } from '../../../contract/define.ts'
import { DownloadHeaders, downloadResponses } from '../../../contract/download.ts'
import {
  ByteCount,
  fields,
  inRepository,
  nullable,
  oneOf,
  pageLimit,
  Timestamp,
  text,
  Uuid,
} from '../../../contract/schemas.ts'
import { artifactNameMaxCharacters, blockersToldMax, revisionMax } from '../../../kernel/limits.ts'
import { outcomes } from './deletion.ts'
import { blockers } from './eligibility.ts'
import { ArtifactPage, ArtifactRecord } from './vocabulary.ts'

const base = '/api/v1/repositories/{repository}/artifacts'
const one = fields({ repository: Type.String(), id: Uuid })
const read = { surface: 'catalog', visibility: 'repository', retry: 'read' } as const

export const listArtifacts = defineOperation({
  ...read,
  id: 'listArtifacts',
  method: 'GET',
  path: base,
  summary: 'List published files',
  access: { kind: 'repository', actions: ['artifact.list'] },
  pathParameters: inRepository,
  query: fields({ after: Type.Optional(Uuid), limit: pageLimit }),
  responses: { 200: answers('A page ordered by id; `next` is set whenever the page is full', ArtifactPage) },
})

export const getArtifact = defineOperation({
  ...read,
  id: 'getArtifact',
  method: 'GET',
  path: `${base}/{id}`,
  summary: 'Read a published file’s record',
  access: { kind: 'repository', actions: ['artifact.read'] },
  pathParameters: one,
  responses: { 200: answers('The record with its original descriptor', ArtifactRecord) },
})

export const getArtifactContent = defineOperation({
  ...read,
  id: 'getArtifactContent',
  method: 'GET',
  path: `${base}/{id}/content`,
  summary: 'Download a published file',
  surface: 'transfers',
  access: { kind: 'repository', actions: ['content.read'] },
  download: true,
  linkable: true,
  pathParameters: one,
  query: fields({ token: Type.Optional(Type.String({ description: 'a download link instead of Authorization' })) }),
  headers: DownloadHeaders,
  responses: downloadResponses,
})

const Revision = Type.Integer({ minimum: 0, maximum: revisionMax })
const Blockers = Type.Array(oneOf(blockers), { maxItems: blockersToldMax, uniqueItems: true })

export const checkArtifactDeletion = defineOperation({
  ...read,
  id: 'checkArtifactDeletion',
  method: 'GET',
  path: `${base}/{id}/deletion`,
  summary: 'See what stands in the way of deleting a file',
  access: { kind: 'repository', actions: ['artifact.delete'] },
  pathParameters: one,
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
  ...read,
  id: 'deleteArtifact',
  method: 'DELETE',
  path: `${base}/{id}`,
  summary: 'Delete a file; until the grace period is over it can be brought back',
  access: { kind: 'repository', actions: ['artifact.delete'] },
  retry: 'idempotent',
  pathParameters: one,
  body: jsonBody(fields({ expectedAnnotationRevision: Revision })),
  responses: {
    200: answers(
      'What became of it, and until when it can be brought back',
      fields({ id: Uuid, outcome: oneOf(outcomes), blockers: Blockers, restorableUntil: nullable(Timestamp) }),
    ),
  },
})

export const restoreArtifact = defineOperation({
  ...read,
  id: 'restoreArtifact',
  method: 'POST',
  path: `${base}/{id}/restore`,
  summary: 'Bring a deleted file back while its grace period lasts',
  access: { kind: 'repository', actions: ['artifact.delete'] },
  retry: 'idempotent',
  pathParameters: one,
  responses: { 200: answers('The record, as it was', ArtifactRecord) },
  failures: ['version_exists'],
})
