import Type from 'typebox'
import { answers, defineOperation, jsonBody } from '../../../contract/define.ts'
import { fields, inRepository, nullable, oneOf, Timestamp } from '../../../contract/schemas.ts'
import { imageBlockers } from '../../../features/lifecycle/policies/vocabulary.ts'
import { expectedRevisionMax, revisionMax } from '../../../kernel/limits/catalog.ts'
import { immutableTagsMax, tagPatternMaxCharacters } from '../../../kernel/limits/oci.ts'
import { DigestText, ImageName, patterns, Reference } from '../vocabulary.ts'

const TagPatterns = Type.Array(
  Type.String({
    pattern: patterns.tagPattern,
    description: `a tag, or one with * for any characters, of at most ${tagPatternMaxCharacters} characters`,
  }),
  { maxItems: immutableTagsMax, uniqueItems: true },
)

const ImmutableTags = fields({
  revision: Type.Integer({ minimum: 0, maximum: revisionMax }),
  patterns: TagPatterns,
  savedAt: nullable(Timestamp),
  actor: nullable(Type.String()),
})

const immutableTags = {
  path: '/api/v1/repositories/{repository}/images/immutable-tags',
  surface: 'operations',
  visibility: 'repository',
  pathParameters: inRepository,
} as const

export const getImmutableTags = defineOperation({
  ...immutableTags,
  id: 'getImmutableTags',
  method: 'GET',
  summary: 'Read which tags of images stay where they are',
  access: { kind: 'repository', actions: ['artifact.list'] },
  retry: 'read',
  responses: { 200: answers('The patterns; a repository begins with none', ImmutableTags) },
})

export const putImmutableTags = defineOperation({
  ...immutableTags,
  id: 'putImmutableTags',
  method: 'PUT',
  summary: 'Say which tags of images stay where they are: they are set once, and neither moved nor taken away',
  access: { kind: 'repository', actions: ['storage.manage'] },
  retry: 'compare-and-swap',
  body: jsonBody(
    fields({
      expectedRevision: Type.Integer({ minimum: 0, maximum: expectedRevisionMax }),
      patterns: TagPatterns,
    }),
  ),
  responses: { 200: answers('The patterns as they were saved', ImmutableTags) },
  failures: ['revision_mismatch'],
})

const decisions = ['not_covered', 'kept', 'deletable'] as const

export const explainImage = defineOperation({
  id: 'explainImage',
  method: 'GET',
  path: '/api/v1/repositories/{repository}/images/explain',
  summary: 'Ask why the storage policy keeps an image, or would delete it, and from when on',
  surface: 'operations',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['artifact.read'] },
  retry: 'read',
  pathParameters: inRepository,
  query: fields({ image: ImageName, reference: Reference }),
  responses: {
    200: answers(
      'What the saved policy makes of the image; `deletableAt` is null while something keeps it that time does not end. Without storage.read only the decision is told, as kept or deletable',
      fields({
        image: ImageName,
        digest: DigestText,
        decision: oneOf(decisions),
        reasons: Type.Array(fields({ code: Type.String(), text: Type.String() }), { minItems: 1 }),
        deletableAt: nullable(Timestamp),
        blockers: Type.Array(oneOf(imageBlockers), { uniqueItems: true }),
        policy: nullable(
          fields({
            revision: Type.Integer({ minimum: 0, maximum: revisionMax }),
            enabled: Type.Boolean(),
            nextRunAt: nullable(Timestamp),
          }),
        ),
      }),
    ),
  },
})
