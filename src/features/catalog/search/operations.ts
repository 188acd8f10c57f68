import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import { ByteCount, fields, inRepository, nullable, Timestamp, text, Uuid } from '../../../contract/schemas.ts'
import {
  artifactNameMaxCharacters,
  labelMaxCharacters,
  metadataValueMaxCharacters,
  stagesMax,
} from '../../../kernel/limits/catalog.ts'
import { searchNeedleMaxCharacters } from '../../../kernel/limits/search.ts'
import { patterns } from '../../../kernel/names.ts'
import { Collection, Labels } from '../artifacts/vocabulary.ts'

const Stage = Type.String({ pattern: patterns.stage, description: '1 to 32 lowercase letters, digits, _ . or -' })

export const searchArtifacts = defineOperation({
  id: 'searchArtifacts',
  method: 'GET',
  path: '/api/v1/repositories/{repository}/search',
  summary: 'Find published files by name, labels, metadata and collections',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['artifact.list'] },
  retry: 'read',
  pathParameters: inRepository,
  query: fields({
    q: Type.Optional(text(0, searchNeedleMaxCharacters)),
    label: Type.Optional(text(1, labelMaxCharacters)),
    collection: Type.Optional(Collection),
    metadataKey: Type.Optional(Type.String({ pattern: patterns.metadataKey, description: 'a metadata key' })),
    metadataValue: Type.Optional(text(0, metadataValueMaxCharacters)),
    after: Type.Optional(Uuid),
  }),
  responses: {
    200: answers(
      'Up to 100 files that match everything that was asked for, ordered by id',
      fields({
        items: Type.Array(
          fields({
            id: Uuid,
            name: text(1, artifactNameMaxCharacters),
            size: ByteCount,
            createdAt: Timestamp,
            publishedAt: nullable(Timestamp),
            labels: Labels,
            stages: Type.Array(Stage, { maxItems: stagesMax }),
          }),
          { maxItems: 100 },
        ),
        next: nullable(Uuid),
      }),
    ),
  },
})
