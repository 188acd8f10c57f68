import Type from 'typebox'
import { answers, defineOperation, jsonBody } from '../../../contract/define.ts'
import {
  ByteCount,
  fields,
  inRepository,
  nullable,
  OrderOfTime,
  oneOf,
  Sequence,
  SequenceCursor,
  Timestamp,
  text,
} from '../../../contract/schemas.ts'
import { storageEventLevels } from '../../../kernel/journal-words.ts'
import { expectedRevisionMax, revisionMax } from '../../../kernel/limits/catalog.ts'
import {
  storageEventCodeMaxCharacters,
  storageEventDetailsMax,
  storageEventsPage,
} from '../../../kernel/limits/journal.ts'
import { graceHoursMax } from '../../../kernel/limits/lifecycle.ts'
import { samplesToldMax, usageDaysDefault, usageDaysMax } from '../../../kernel/limits/samples.ts'
import { usageStates } from '../../../kernel/usage-state.ts'

const base = '/api/v1/repositories/{repository}'
const GraceHours = Type.Integer({ minimum: 0, maximum: graceHoursMax })

const Usage = fields({
  publishedBytes: ByteCount,
  pendingBytes: ByteCount,
  retiredBytes: ByteCount,
  reservedBytes: ByteCount,
  quotaBytes: nullable(ByteCount),
  state: oneOf(usageStates),
  graceHours: GraceHours,
  nextReleaseAt: nullable(Timestamp),
})

const Cleanup = fields({
  revision: Type.Integer({ minimum: 0, maximum: revisionMax }),
  graceHours: nullable(GraceHours),
  serverGraceHours: GraceHours,
})

export const getStorageUsage = defineOperation({
  id: 'getStorageUsage',
  method: 'GET',
  path: `${base}/storage/usage`,
  summary: 'Read what a repository reserves, and when deleted files give their room back',
  surface: 'operations',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['storage.read'] },
  retry: 'read',
  pathParameters: inRepository,
  responses: { 200: answers('Logical reservations, not disk usage', Usage) },
})

export const listUsageSamples = defineOperation({
  id: 'listUsageSamples',
  method: 'GET',
  path: `${base}/storage/samples`,
  summary: 'Read how full a repository was in the last days',
  surface: 'operations',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['storage.read'] },
  retry: 'read',
  pathParameters: inRepository,
  query: fields({
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: usageDaysMax, default: usageDaysDefault })),
  }),
  responses: {
    200: answers(
      'Oldest first: the beginning of each hour in which it had become another, or, of more than 31 days, the last of each day. The first may be older: it held on',
      fields({
        items: Type.Array(
          fields({
            takenAt: Timestamp,
            publishedBytes: ByteCount,
            pendingBytes: ByteCount,
            retiredBytes: ByteCount,
            quotaBytes: nullable(ByteCount),
          }),
          { maxItems: samplesToldMax },
        ),
      }),
    ),
  },
})

export const getCleanup = defineOperation({
  id: 'getCleanup',
  method: 'GET',
  path: `${base}/cleanup`,
  summary: 'Read how long deleted files can be brought back',
  surface: 'operations',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['storage.read'] },
  retry: 'read',
  pathParameters: inRepository,
  responses: { 200: answers('The setting; null stands for that of the server', Cleanup) },
})

export const setCleanup = defineOperation({
  id: 'setCleanup',
  method: 'PUT',
  path: `${base}/cleanup`,
  summary: 'Set how long deleted files can be brought back',
  surface: 'operations',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['storage.manage'] },
  retry: 'compare-and-swap',
  pathParameters: inRepository,
  body: jsonBody(
    fields({
      expectedRevision: Type.Integer({ minimum: 0, maximum: expectedRevisionMax }),
      graceHours: nullable(GraceHours),
    }),
  ),
  responses: { 200: answers('The setting, which holds for what is deleted already as well', Cleanup) },
  failures: ['revision_mismatch'],
})

const Level = oneOf(storageEventLevels)

const StorageEvent = fields({
  sequence: Sequence,
  occurredAt: Timestamp,
  level: Level,
  code: text(1, storageEventCodeMaxCharacters),
  details: Type.Record(Type.String(), Type.Union([Type.String(), Type.Integer()]), {
    maxProperties: storageEventDetailsMax,
  }),
})

export const listStorageEvents = defineOperation({
  id: 'listStorageEvents',
  method: 'GET',
  path: `${base}/storage/events`,
  summary: 'Read what operators should know of the storage of a repository',
  surface: 'operations',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['diagnostics.read'] },
  retry: 'read',
  pathParameters: inRepository,
  query: fields({ after: Type.Optional(SequenceCursor), level: Type.Optional(Level), order: OrderOfTime }),
  responses: {
    200: answers(
      'A page. Oldest first, `next` is always where to go on; newest first, it is null at the end',
      fields({ items: Type.Array(StorageEvent, { maxItems: storageEventsPage }), next: nullable(SequenceCursor) }),
    ),
  },
})
