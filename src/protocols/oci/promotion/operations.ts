import Type from 'typebox'
import { answers, defineOperation, jsonBody } from '../../../contract/define.ts'
import { fields, inRepository, RepositoryId } from '../../../contract/schemas.ts'
import {
  asked,
  Mode,
  neededHere,
  promoting,
  promotionPages,
  Stages,
  wished,
} from '../../../features/lifecycle/promotion/vocabulary.ts'
import { promotedManifestsMax, tagsPerPushMax } from '../../../kernel/limits/oci.ts'
import { DigestText, ImageName, Reference, TagName } from '../vocabulary.ts'

const base = '/api/v1/repositories/{repository}/images'
const common = { surface: 'catalog', visibility: 'repository', pathParameters: inRepository } as const

const Tags = Type.Array(TagName, { maxItems: tagsPerPushMax, uniqueItems: true })

const Promoted = fields({
  repository: RepositoryId,
  image: ImageName,
  digest: DigestText,
  tags: Tags,
  sourceRepository: RepositoryId,
  sourceImage: ImageName,
  mode: Mode,
  created: Type.Boolean(),
  manifests: Type.Integer({ minimum: 0, maximum: promotedManifestsMax }),
  stages: Stages,
})

export const promoteImage = defineOperation({
  ...common,
  ...promoting,
  id: 'promoteImage',
  path: `${base}/promote`,
  summary: 'Copy or move an image into another repository, with what it lists and what refers to it',
  access: {
    kind: 'repository',
    actions: neededHere,
    also: { at: '/target', actions: ['artifact.promote', 'asset.write'] },
  },
  body: jsonBody(
    fields({
      image: ImageName,
      reference: Reference,
      ...wished,
      targetImage: Type.Optional(ImageName),
      tags: Type.Optional(Tags),
    }),
  ),
  responses: {
    201: answers('The copy, and how many manifests came to be with it', Promoted),
    200: answers('The copy that was there already, and how many manifests came to be now', Promoted),
  },
  failures: [
    'source_not_deletable',
    'tag_immutable',
    'image_incomplete',
    'promotion_limit',
    'stage_limit',
    'storage_quota',
  ],
})

export const listImagePromotions = defineOperation({
  ...common,
  id: 'listImagePromotions',
  method: 'GET',
  path: `${base}/promotions`,
  summary: 'List what the promotion journal tells of an image',
  access: { kind: 'repository', actions: ['artifact.read'] },
  retry: 'read',
  query: fields({ image: ImageName, reference: Reference, ...asked }),
  responses: promotionPages,
})
