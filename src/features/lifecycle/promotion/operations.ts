import Type from 'typebox'
import { answers, defineOperation, jsonBody } from '../../../contract/define.ts'
import { fields, inRepository, RepositoryId, Uuid } from '../../../contract/schemas.ts'
import { asked, Mode, neededHere, promoting, promotionPages, Stages, wished } from './vocabulary.ts'

const base = '/api/v1/repositories/{repository}'
const page = {
  method: 'GET',
  surface: 'catalog',
  visibility: 'repository',
  retry: 'read',
  query: fields(asked),
  responses: promotionPages,
} as const

export const listArtifactPromotions = defineOperation({
  ...page,
  id: 'listArtifactPromotions',
  path: `${base}/artifacts/{id}/promotions`,
  summary: 'List what the promotion journal tells of a file',
  access: { kind: 'repository', actions: ['artifact.read'] },
  pathParameters: fields({ repository: Type.String(), id: Uuid }),
})

export const listPromotions = defineOperation({
  ...page,
  id: 'listPromotions',
  path: `${base}/promotions`,
  summary: 'List the promotion journal',
  access: { kind: 'repository', actions: ['artifact.list'] },
  pathParameters: inRepository,
})

const Promoted = fields({
  repository: RepositoryId,
  artifactId: Uuid,
  sourceRepository: RepositoryId,
  sourceArtifactId: Uuid,
  mode: Mode,
  created: Type.Boolean(),
  stages: Stages,
})

export const promoteArtifact = defineOperation({
  ...promoting,
  id: 'promoteArtifact',
  path: `${base}/artifacts/{id}/promote`,
  summary: 'Copy or move a file into another repository',
  access: { kind: 'repository', actions: neededHere, also: { at: '/target', actions: ['artifact.promote'] } },
  pathParameters: fields({ repository: Type.String(), id: Uuid }),
  body: jsonBody(fields(wished)),
  responses: {
    201: answers('The copy', Promoted),
    200: answers('The copy that was there already', Promoted),
  },
  failures: ['source_not_deletable', 'version_exists', 'stage_limit', 'storage_quota'],
})
