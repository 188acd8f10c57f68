import Type from 'typebox'
import { answers, defineOperation, jsonBody } from '../../../contract/define.ts'
import {
  ByteCount,
  fields,
  inRepository,
  nullable,
  oneOf,
  pageLimit,
  Timestamp,
  text,
  Uuid,
} from '../../../contract/schemas.ts'
import { artifactNameMaxCharacters, expectedRevisionMax, revisionMax } from '../../../kernel/limits/catalog.ts'
import { blockersToldMax, retentionItemsMax, tagsShownMax } from '../../../kernel/limits/lifecycle.ts'
import { patterns } from '../../../kernel/names.ts'
import { blockers, outcomes } from '../deletion/vocabulary.ts'
import { imageBlockers, keptOutcomes, npmVersionBlockers, Policy, ProtectedLabels } from './vocabulary.ts'

const base = '/api/v1/repositories/{repository}'
const shared = { surface: 'operations', visibility: 'repository', pathParameters: inRepository } as const
const Revision = Type.Integer({ minimum: 0, maximum: revisionMax })
const ExpectedRevision = Type.Integer({ minimum: 0, maximum: expectedRevisionMax })
const Blockers = Type.Array(oneOf(blockers), { maxItems: blockersToldMax, uniqueItems: true })

const SavedPolicy = fields({
  revision: Revision,
  policy: Policy,
  nextRunAt: nullable(Timestamp),
  lastRunAt: nullable(Timestamp),
  lastDeleted: Type.Integer({ minimum: 0, maximum: retentionItemsMax }),
  lastDeletedImages: Type.Integer({ minimum: 0 }),
  lastDeletedNpmVersions: Type.Integer({ minimum: 0 }),
  lastError: nullable(text(1, 64)),
})

const Candidate = fields({
  id: Uuid,
  name: text(1, artifactNameMaxCharacters),
  size: ByteCount,
  publishedAt: Timestamp,
  annotationRevision: Revision,
  blockers: Blockers,
})

const Outcomes = fields({
  items: Type.Array(fields({ id: Uuid, outcome: oneOf(outcomes), blockers: Blockers }), {
    maxItems: retentionItemsMax,
  }),
})

const image = { image: Type.String(), digest: Type.String() }

const ImageCandidates = Type.Array(
  fields({
    ...image,
    taggedAt: Timestamp,
    tags: Type.Array(Type.String(), { maxItems: tagsShownMax, description: 'the first ones' }),
  }),
  { maxItems: retentionItemsMax },
)

const ImageOutcomes = Type.Array(
  fields({
    ...image,
    outcome: oneOf(keptOutcomes),
    blockers: Type.Array(oneOf(imageBlockers), { uniqueItems: true }),
  }),
  { maxItems: retentionItemsMax },
)

const npmVersion = { package: Type.String(), version: Type.String() }

const NpmVersionCandidates = Type.Array(fields({ ...npmVersion, publishedAt: Timestamp }), {
  maxItems: retentionItemsMax,
})

const NpmVersionOutcomes = Type.Array(
  fields({
    ...npmVersion,
    outcome: oneOf(keptOutcomes),
    blockers: Type.Array(oneOf(npmVersionBlockers), { uniqueItems: true }),
  }),
  { maxItems: retentionItemsMax },
)

export const getStoragePolicy = defineOperation({
  ...shared,
  id: 'getStoragePolicy',
  method: 'GET',
  path: `${base}/storage/policy`,
  summary: 'Read what a repository keeps of its package versions, its quota and its schedule',
  access: { kind: 'repository', actions: ['storage.read'] },
  retry: 'read',
  responses: { 200: answers('The policy; a repository begins with a disabled one', SavedPolicy) },
})

export const putStoragePolicy = defineOperation({
  ...shared,
  id: 'putStoragePolicy',
  method: 'PUT',
  path: `${base}/storage/policy`,
  summary: 'Replace the storage policy; enabling it ties its schedule to the calling key and needs artifact.delete too',
  access: { kind: 'repository', actions: ['storage.manage'] },
  retry: 'compare-and-swap',
  body: jsonBody(fields({ expectedRevision: ExpectedRevision, policy: Policy })),
  responses: { 200: answers('The policy as it was saved', SavedPolicy) },
  failures: ['revision_mismatch'],
})

export const previewStorageRun = defineOperation({
  ...shared,
  id: 'previewStorageRun',
  method: 'GET',
  path: `${base}/storage/preview`,
  summary: 'See what the saved policy would delete now, even while it is disabled',
  access: { kind: 'repository', actions: ['artifact.delete'] },
  retry: 'read',
  responses: {
    200: answers(
      'What one run would delete, and whether there is more',
      fields({
        revision: Revision,
        items: Type.Array(Candidate, { maxItems: retentionItemsMax }),
        images: ImageCandidates,
        npmVersions: NpmVersionCandidates,
        hasMore: Type.Boolean(),
      }),
    ),
  },
})

export const runStoragePolicy = defineOperation({
  ...shared,
  id: 'runStoragePolicy',
  method: 'POST',
  path: `${base}/storage/run`,
  summary: 'Delete up to 100 files, 100 images and 100 npm versions by the saved policy',
  access: { kind: 'repository', actions: ['storage.manage', 'artifact.delete'] },
  retry: 'never-automatic',
  body: jsonBody(fields({ expectedRevision: ExpectedRevision })),
  responses: {
    200: answers(
      'What became of each file, image and npm version that was to go; of a `partly` deleted image, run it again',
      fields({ ...Outcomes.properties, images: ImageOutcomes, npmVersions: NpmVersionOutcomes }),
    ),
  },
  failures: ['revision_mismatch', 'policy_disabled'],
})

const Criteria = fields({
  publishedBefore: Type.String({
    pattern: patterns.utcMilliseconds,
    description: 'a past UTC time with three fractional digits and Z',
  }),
  protectedLabels: ProtectedLabels,
})

export const previewRetention = defineOperation({
  ...shared,
  id: 'previewRetention',
  method: 'POST',
  path: `${base}/retention/preview`,
  summary: 'List files that were published before a moment, each with what keeps it',
  access: { kind: 'repository', actions: ['artifact.delete'] },
  retry: 'read',
  body: jsonBody(fields({ criteria: Criteria, limit: pageLimit, after: Type.Optional(Uuid) })),
  responses: {
    200: answers(
      'A page ordered by id, which may be short of its limit while `next` is set; nothing is reserved',
      fields({ items: Type.Array(Candidate, { maxItems: retentionItemsMax }), next: nullable(Uuid) }),
    ),
  },
})

export const applyRetention = defineOperation({
  ...shared,
  id: 'applyRetention',
  method: 'POST',
  path: `${base}/retention/apply`,
  summary: 'Delete those of the named files that the criteria let go',
  access: { kind: 'repository', actions: ['artifact.delete'] },
  retry: 'idempotent',
  body: jsonBody(
    fields({
      criteria: Criteria,
      items: Type.Array(fields({ id: Uuid, expectedAnnotationRevision: Revision }), {
        minItems: 1,
        maxItems: retentionItemsMax,
      }),
    }),
  ),
  responses: { 200: answers('What became of each, in the order asked', Outcomes) },
})

const decisions = ['not_covered', 'kept', 'deletable'] as const

export const explainArtifact = defineOperation({
  ...shared,
  id: 'explainArtifact',
  method: 'GET',
  path: `${base}/artifacts/{id}/explain`,
  summary: 'Ask why the storage policy keeps a file, or would delete it, and from when on',
  access: { kind: 'repository', actions: ['artifact.read'] },
  retry: 'read',
  pathParameters: fields({ repository: Type.String(), id: Uuid }),
  responses: {
    200: answers(
      'What the saved policy makes of the file; `deletableAt` is null while something keeps it that time does not end. Without storage.read only the decision is told, as kept or deletable',
      fields({
        id: Uuid,
        decision: oneOf(decisions),
        reasons: Type.Array(fields({ code: Type.String(), text: Type.String() }), { minItems: 1 }),
        deletableAt: nullable(Timestamp),
        blockers: Blockers,
        policy: nullable(fields({ revision: Revision, enabled: Type.Boolean(), nextRunAt: nullable(Timestamp) })),
      }),
    ),
  },
})
