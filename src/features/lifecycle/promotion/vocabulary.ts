import Type from 'typebox'
import { answers } from '../../../contract/define.ts'
import {
  ActorName,
  fields,
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

/** What is said of a promotion, whatever is promoted. */
export const Mode = oneOf(['copy', 'move'] as const)
export const Stages = Type.Array(StageName, { maxItems: stagesPerArtifactMax, uniqueItems: true })
export const Comment = nullable(text(0, stageCommentMaxCharacters))

const PromotionEvent = fields({
  sequence: Sequence,
  repository: RepositoryId,
  artifactId: Uuid,
  image: nullable(Type.String({ description: 'the name of an image, whose manifest it is about; null for all else' })),
  digest: nullable(Type.String({ description: 'that of the manifest' })),
  package: nullable(Type.String({ description: 'the name of an npm package, whose version it is about' })),
  version: nullable(Type.String()),
  action: oneOf(promotionEvents),
  stage: nullable(Type.String()),
  mode: nullable(Mode),
  peerRepository: nullable(RepositoryId),
  peerArtifactId: nullable(Uuid),
  peerImage: nullable(Type.String()),
  actor: Type.String(),
  actorName: ActorName,
  comment: nullable(Type.String()),
  occurredAt: Timestamp,
})

/** What every promotion is asked by. To move, it needs more here as well, which its handler asks. */
export const promoting = {
  method: 'POST',
  surface: 'catalog',
  visibility: 'repository',
  retry: 'idempotent',
  conditions: ['resource-state'],
} as const
export const neededHere = ['artifact.read', 'content.read'] as const
export const wished = {
  target: RepositoryId,
  mode: Type.Optional(Mode),
  stages: Type.Optional(Stages),
  comment: Type.Optional(Comment),
}

/** How a page of the promotion journal is asked for. */
export const asked = { after: Type.Optional(SequenceCursor), limit: pageLimit, order: OrderOfTime }

export const promotionPages = {
  200: answers(
    'A page; `next` is the `after` of the next page',
    fields({ items: Type.Array(PromotionEvent, { maxItems: pageMax }), next: nullable(SequenceCursor) }),
  ),
}
