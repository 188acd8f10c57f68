import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import {
  AssetPath,
  ByteCount,
  fields,
  IdCursor,
  inRepository,
  nullable,
  OpaqueCursor,
  OrderOfTime,
  oneOf,
  RepositoryId,
  Sha256Text,
  StageName,
  Timestamp,
  text,
  Uuid,
} from '../../../contract/schemas.ts'
import {
  artifactNameMaxCharacters,
  assetPathMaxCharacters,
  labelMaxCharacters,
  metadataValueMaxCharacters,
  pageMax,
  stagesMax,
} from '../../../kernel/limits/catalog.ts'
import { hitPathsMax, searchNeedleMaxCharacters } from '../../../kernel/limits/search.ts'
import { patterns } from '../../../kernel/names.ts'
import { Collection, Labels } from '../artifacts/vocabulary.ts'

const filters = {
  q: Type.Optional(text(0, searchNeedleMaxCharacters)),
  label: Type.Optional(text(1, labelMaxCharacters)),
  collection: Type.Optional(Collection),
  metadataKey: Type.Optional(Type.String({ pattern: patterns.metadataKey, description: 'a metadata key' })),
  metadataValue: Type.Optional(text(0, metadataValueMaxCharacters)),
  sha256: Type.Optional(Sha256Text),
  path: Type.Optional(text(1, assetPathMaxCharacters)),
  paths: Type.Optional(oneOf(['true', 'false'])),
  order: OrderOfTime,
}

const hit = {
  id: Uuid,
  name: text(1, artifactNameMaxCharacters),
  size: ByteCount,
  createdAt: Timestamp,
  publishedAt: nullable(Timestamp),
  labels: Labels,
  stages: Type.Array(StageName, { maxItems: stagesMax }),
  paths: Type.Optional(Type.Array(AssetPath, { maxItems: hitPathsMax })),
  morePaths: Type.Optional(Type.Boolean()),
}

export const searchArtifacts = defineOperation({
  id: 'searchArtifacts',
  method: 'GET',
  path: '/api/v1/repositories/{repository}/search',
  summary: 'Find published files by name, path, digest, labels, metadata and collections',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['artifact.list'] },
  retry: 'read',
  pathParameters: inRepository,
  query: fields({ ...filters, after: Type.Optional(IdCursor) }),
  responses: {
    200: answers(
      `Up to 100 files that match everything that was asked for, ordered by id. \`path\` and \`paths=true\` need \
asset.read as well; with the latter each file bears up to ${hitPathsMax} paths that show it`,
      fields({ items: Type.Array(fields(hit), { maxItems: pageMax }), next: nullable(IdCursor) }),
    ),
  },
  failures: ['permission_missing'],
})

export const searchEverywhere = defineOperation({
  id: 'searchEverywhere',
  method: 'GET',
  path: '/api/v1/search',
  summary: 'Find published files in all repositories that you may see',
  surface: 'catalog',
  visibility: 'authenticated',
  access: { kind: 'visible', actions: ['artifact.list'] },
  retry: 'read',
  query: fields({
    ...filters,
    after: Type.Optional(OpaqueCursor),
  }),
  responses: {
    200: answers(
      'Up to 100 files, by repository and within each by id; go on while there is a `next`, also after a page that is short or empty. `path` and `paths=true` leave out repositories in which you lack asset.read',
      fields({
        items: Type.Array(fields({ repository: RepositoryId, ...hit }), { maxItems: pageMax }),
        next: nullable(OpaqueCursor),
      }),
    ),
  },
})
