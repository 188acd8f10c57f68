import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import { DownloadHeaders, downloadResponses } from '../../../contract/download.ts'
import { fields, IdCursor, inRepository, OrderOfTime, pageLimit, Uuid } from '../../../contract/schemas.ts'
import { patterns } from '../../../kernel/names.ts'
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
  query: fields({ after: Type.Optional(IdCursor), limit: pageLimit, order: OrderOfTime }),
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
  query: fields({
    token: Type.Optional(Type.String({ description: 'a download link instead of Authorization' })),
    downloadId: Type.Optional(
      Type.String({
        pattern: patterns.downloadId,
        description: 'takes part in the turn that this Svc-Download-Id has; for a browser that follows a link',
      }),
    ),
  }),
  headers: DownloadHeaders,
  responses: downloadResponses,
})
