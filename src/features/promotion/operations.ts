import Type from 'typebox'
import { answers, defineOperation } from '../../contract/define.ts'
import {
  fields,
  inRepository,
  nullable,
  oneOf,
  pageLimit,
  RepositoryId,
  Timestamp,
  Uuid,
} from '../../contract/schemas.ts'
import { eventActions } from '../../journal/promotions.ts'
import { pageMax } from '../../kernel/limits.ts'
import { patterns } from '../../kernel/names.ts'

const base = '/api/v1/repositories/{repository}'
const read = { method: 'GET', surface: 'catalog', visibility: 'repository', retry: 'read' } as const

const Sequence = Type.String({ pattern: patterns.byteCount, description: 'a sequence as a string of decimal digits' })

const PromotionEvent = fields({
  sequence: Sequence,
  repository: RepositoryId,
  artifactId: Uuid,
  action: oneOf(eventActions),
  stage: nullable(Type.String()),
  mode: nullable(oneOf(['copy', 'move'] as const)),
  peerRepository: nullable(RepositoryId),
  peerArtifactId: nullable(Uuid),
  actor: Type.String(),
  comment: nullable(Type.String()),
  occurredAt: Timestamp,
})

const page = {
  query: fields({ after: Type.Optional(Sequence), limit: pageLimit }),
  responses: {
    200: answers(
      'A page, oldest first; `next` is the `after` of the next page',
      fields({ items: Type.Array(PromotionEvent, { maxItems: pageMax }), next: nullable(Sequence) }),
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
