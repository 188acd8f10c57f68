import Type from 'typebox'
import { answers, answersNothing, defineOperation, jsonBody } from '../../../contract/define.ts'
import {
  ActorName,
  fields,
  inRepository,
  nullable,
  StageName,
  Timestamp,
  text,
  Uuid,
} from '../../../contract/schemas.ts'
import {
  pageMax,
  stageCommentMaxCharacters,
  stageIdsMax,
  stagesPerArtifactMax,
} from '../../../kernel/limits/catalog.ts'
import { patterns } from '../../../kernel/names.ts'

const base = '/api/v1/repositories/{repository}'
const one = { repository: Type.String(), id: Uuid }

const Comment = nullable(text(0, stageCommentMaxCharacters))
const stageEntry = {
  artifactId: Uuid,
  stage: StageName,
  promotedAt: Timestamp,
  actor: Type.String(),
  comment: Comment,
}
const StageEntry = fields(stageEntry)
const listedStage = { ...stageEntry, actorName: ActorName }
const ListedStage = fields(listedStage)
const StageInRepository = fields({ ...listedStage, artifactName: nullable(Type.String()) })

const read = { method: 'GET', surface: 'catalog', visibility: 'repository', retry: 'read' } as const

export const listArtifactStages = defineOperation({
  ...read,
  id: 'listArtifactStages',
  path: `${base}/artifacts/{id}/stages`,
  summary: 'List the stages of a file',
  access: { kind: 'repository', actions: ['artifact.read'] },
  pathParameters: fields(one),
  responses: {
    200: answers(
      'All of them, in byte order',
      fields({ items: Type.Array(ListedStage, { maxItems: stagesPerArtifactMax }) }),
    ),
  },
})

const change = {
  path: `${base}/artifacts/{id}/stages/{stage}`,
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['artifact.promote', 'artifact.read'] },
  retry: 'idempotent',
  conditions: ['resource-state'],
  pathParameters: fields({ ...one, stage: StageName }),
} as const

export const addStage = defineOperation({
  ...change,
  id: 'addStage',
  method: 'PUT',
  summary: 'Give a file a stage; one that it has stays as it is',
  body: jsonBody(fields({ comment: Type.Optional(Comment) })),
  responses: { 200: answers('The stage', StageEntry) },
  failures: ['stage_limit'],
})

export const removeStage = defineOperation({
  ...change,
  id: 'removeStage',
  method: 'DELETE',
  summary: 'Take a stage from a file',
  responses: { 204: answersNothing('The file does not have the stage') },
})

export const listStages = defineOperation({
  ...read,
  id: 'listStages',
  path: `${base}/stages`,
  summary: 'List the stages of all files',
  access: { kind: 'repository', actions: ['artifact.list'] },
  pathParameters: inRepository,
  query: fields({
    stage: Type.Optional(StageName),
    ids: Type.Optional(
      Type.String({
        pattern: patterns.uuids,
        maxLength: stageIdsMax * 37 - 1,
        description: `up to ${stageIdsMax} UUIDs, separated by commas`,
      }),
    ),
    after: Type.Optional(
      Type.String({ pattern: patterns.stageCursor, description: 'the next of the page before: <artifactId>/<stage>' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageMax, default: pageMax })),
  }),
  responses: {
    200: answers(
      'A page ordered by file and stage',
      fields({ items: Type.Array(StageInRepository, { maxItems: pageMax }), next: nullable(Type.String()) }),
    ),
  },
})
