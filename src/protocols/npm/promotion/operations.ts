import Type from 'typebox'
import { answers, defineOperation, jsonBody } from '../../../contract/define.ts'
import { fields, inRepository, RepositoryId, text } from '../../../contract/schemas.ts'
import {
  asked,
  Mode,
  neededHere,
  promoting,
  promotionPages,
  Stages,
  wished,
} from '../../../features/lifecycle/promotion/vocabulary.ts'
import { npmTagMaxCharacters, npmTagsPerPromotionMax } from '../../../kernel/limits/npm.ts'
import { PackageName, Version } from '../packages/vocabulary.ts'

const base = '/api/v1/repositories/{repository}/npm'
const common = { surface: 'catalog', visibility: 'repository', pathParameters: inRepository } as const

const Tags = Type.Array(text(1, npmTagMaxCharacters), { maxItems: npmTagsPerPromotionMax, uniqueItems: true })

const Promoted = fields({
  repository: RepositoryId,
  package: PackageName,
  version: Version,
  tags: Tags,
  sourceRepository: RepositoryId,
  mode: Mode,
  created: Type.Boolean(),
  stages: Stages,
})

export const promoteNpmVersion = defineOperation({
  ...common,
  ...promoting,
  id: 'promoteNpmVersion',
  path: `${base}/promote`,
  summary: 'Copy or move a version of an npm package into another repository, with the tags that it is to have there',
  access: {
    kind: 'repository',
    actions: neededHere,
    also: { at: '/target', actions: ['artifact.promote', 'asset.write'] },
  },
  body: jsonBody(
    fields({
      package: PackageName,
      version: Version,
      ...wished,
      tags: Type.Optional(Tags),
    }),
  ),
  responses: {
    201: answers('The copy', Promoted),
    200: answers('The copy that was there already', Promoted),
  },
  failures: ['source_not_deletable', 'version_exists', 'stage_limit', 'storage_quota'],
})

export const listNpmPromotions = defineOperation({
  ...common,
  id: 'listNpmPromotions',
  method: 'GET',
  path: `${base}/promotions`,
  summary: 'List what the promotion journal tells of a version of an npm package',
  access: { kind: 'repository', actions: ['artifact.read'] },
  retry: 'read',
  query: fields({ package: PackageName, version: Version, ...asked }),
  responses: promotionPages,
})
