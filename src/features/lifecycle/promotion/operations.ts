import Type from 'typebox'
import { answers, defineOperation, jsonBody } from '../../../contract/define.ts'
import {
  ActorName,
  fields,
  inRepository,
  nullable,
  OrderOfTime,
  oneOf,
  pageLimit,
  RepositoryId,
  Sequence,
  SequenceCursor,
  StageName,
  Timestamp,
  text,
  Uuid,
} from '../../../contract/schemas.ts'
import { promotionEvents } from '../../../kernel/journal-words.ts'
import { pageMax, stageCommentMaxCharacters, stagesPerArtifactMax } from '../../../kernel/limits/catalog.ts'

const base = '/api/v1/repositories/{repository}'
const read = { method: 'GET', surface: 'catalog', visibility: 'repository', retry: 'read' } as const

const Mode = oneOf(['copy', 'move'] as const)
const Stages = Type.Array(StageName, { maxItems: stagesPerArtifactMax, uniqueItems: true })

const PromotionEvent = fields({
  sequence: Sequence,
  repository: RepositoryId,
  artifactId: Uuid,
  action: oneOf(promotionEvents),
  stage: nullable(Type.String()),
  mode: nullable(Mode),
  peerRepository: nullable(RepositoryId),
  peerArtifactId: nullable(Uuid),
  actor: Type.String(),
  actorName: ActorName,
  comment: nullable(Type.String()),
  occurredAt: Timestamp,
})

const page = {
  query: fields({ after: Type.Optional(SequenceCursor), limit: pageLimit, order: OrderOfTime }),
  responses: {
    200: answers(
      'A page; `next` is the `after` of the next page',
      fields({ items: Type.Array(PromotionEvent, { maxItems: pageMax }), next: nullable(SequenceCursor) }),
    ),
  },
}

export const listArtifactPromotions = defineOperation({
  ...read,
  ...page,
  id: 'listArtifactPromotions',
  path: `${base}/artifacts/{id}/promotions`,
  summary: 'List what the promotion journal tells of a file',
  access: { kind: 'repository', actions: ['artifact.read'] },
  pathParameters: fields({ repository: Type.String(), id: Uuid }),
})

export const listPromotions = defineOperation({
  ...read,
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
  id: 'promoteArtifact',
  method: 'POST',
  path: `${base}/artifacts/{id}/promote`,
  summary: 'Copy or move a file into another repository',
  surface: 'catalog',
  visibility: 'repository',
  access: {
    kind: 'repository',
    actions: ['artifact.read', 'content.read'],
    // To move, here as well, which the handler asks.
    also: { at: '/target', actions: ['artifact.promote'] },
  },
  retry: 'idempotent',
  conditions: ['resource-state'],
  pathParameters: fields({ repository: Type.String(), id: Uuid }),
  body: jsonBody(
    fields({
      target: RepositoryId,
      mode: Type.Optional(Mode),
      stages: Type.Optional(Stages),
      comment: Type.Optional(nullable(text(0, stageCommentMaxCharacters))),
    }),
  ),
  responses: {
    201: answers('The copy', Promoted),
    200: answers('The copy that was there already', Promoted),
  },
  failures: ['source_not_deletable', 'version_exists', 'stage_limit', 'storage_quota'],
})
