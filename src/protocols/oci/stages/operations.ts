import Type from 'typebox'
import { answers, answersNothing, defineOperation, jsonBody } from '../../../contract/define.ts'
import {
  ActorName,
  fields,
  inRepository,
  nullable,
  OpaqueCursor,
  StageName,
  Timestamp,
  text,
} from '../../../contract/schemas.ts'
import { pageMax, stageCommentMaxCharacters } from '../../../kernel/limits/catalog.ts'
import { DigestText, ImageName, Reference } from '../vocabulary.ts'

const path = '/api/v1/repositories/{repository}/images/stages'

const Comment = nullable(text(0, stageCommentMaxCharacters))
const imageStage = {
  image: ImageName,
  digest: DigestText,
  stage: StageName,
  promotedAt: Timestamp,
  actor: Type.String(),
  comment: Comment,
}

export const listImageStages = defineOperation({
  id: 'listImageStages',
  method: 'GET',
  path,
  summary: 'List the stages of images: of all, of one stage, of one image or of one of its manifests',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['artifact.list'] },
  retry: 'read',
  pathParameters: inRepository,
  query: fields({
    stage: Type.Optional(StageName),
    image: Type.Optional(ImageName),
    reference: Type.Optional(Reference),
    after: Type.Optional(OpaqueCursor),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageMax, default: pageMax })),
  }),
  responses: {
    200: answers(
      'A page ordered by image, digest and stage',
      fields({
        items: Type.Array(fields({ ...imageStage, actorName: ActorName }), { maxItems: pageMax }),
        next: nullable(OpaqueCursor),
      }),
    ),
  },
})

const change = {
  path: `${path}/{stage}`,
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['artifact.promote', 'artifact.read'] },
  retry: 'idempotent',
  conditions: ['resource-state'],
  pathParameters: fields({ repository: Type.String(), stage: StageName }),
} as const

export const addImageStage = defineOperation({
  ...change,
  id: 'addImageStage',
  method: 'PUT',
  summary: 'Give an image a stage; one that it has stays as it is',
  body: jsonBody(fields({ image: ImageName, reference: Reference, comment: Type.Optional(Comment) })),
  responses: { 200: answers('The stage', fields(imageStage)) },
  failures: ['stage_limit'],
})

export const removeImageStage = defineOperation({
  ...change,
  id: 'removeImageStage',
  method: 'DELETE',
  summary: 'Take a stage from an image',
  query: fields({ image: ImageName, reference: Reference }),
  responses: { 204: answersNothing('The image does not have the stage') },
})
