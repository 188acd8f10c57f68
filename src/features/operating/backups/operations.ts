import Type from 'typebox'
import { answers, answersNothing, defineOperation, jsonBody } from '../../../contract/define.ts'
import {
  fields,
  IdempotencyKey,
  nullable,
  oneOf,
  pageLimit,
  RepositoryId,
  text,
  Uuid,
} from '../../../contract/schemas.ts'
import { contentNameMaxCharacters } from '../../../kernel/limits/backups.ts'
import { expectedRevisionMax, pageMax } from '../../../kernel/limits/catalog.ts'
import { patterns } from '../../../kernel/names.ts'
import {
  ContentItem,
  contentKinds,
  JobView,
  jobKinds,
  jobStates,
  Plan,
  Point,
  PointDetails,
  Schedule,
  Status,
} from './vocabulary.ts'

const base = '/api/v1/backup'
const shared = { surface: 'operations', visibility: 'administrator' } as const
const reads = { ...shared, access: { kind: 'system', action: 'backup.read' }, retry: 'read' } as const
const manages = { ...shared, access: { kind: 'system', action: 'backup.manage' } } as const

const Position = Type.String({
  pattern: patterns.timeCursor,
  description: 'the next of a page before',
})
const page = fields({ after: Type.Optional(Position), limit: pageLimit })
const Next = nullable(Position)
const Asked = fields({ id: Uuid, kind: oneOf(jobKinds), state: oneOf(jobStates) })
const keyed = fields({ 'idempotency-key': IdempotencyKey })
const onPoint = fields({ id: Uuid })

export const getBackupStatus = defineOperation({
  ...reads,
  id: 'getBackupStatus',
  method: 'GET',
  path: `${base}/status`,
  summary: 'See how backups stand, and what needs a person',
  responses: { 200: answers('The vault, the agent, the plan, the newest point and warnings', Status) },
})

export const getBackupPlan = defineOperation({
  ...reads,
  id: 'getBackupPlan',
  method: 'GET',
  path: `${base}/plan`,
  summary: 'Read when points are taken and how many are kept',
  responses: { 200: answers('The plan; at first it is disabled', Plan) },
})

export const putBackupPlan = defineOperation({
  ...manages,
  id: 'putBackupPlan',
  method: 'PUT',
  path: `${base}/plan`,
  summary: 'Replace the plan; the agent follows it from its next look on',
  retry: 'compare-and-swap',
  body: jsonBody(fields({ expectedRevision: Type.Integer({ minimum: 0, maximum: expectedRevisionMax }), ...Schedule })),
  responses: { 200: answers('The plan as it was saved', Plan) },
  failures: ['revision_mismatch'],
})

export const runBackup = defineOperation({
  ...manages,
  id: 'runBackup',
  method: 'POST',
  path: `${base}/runs`,
  summary: 'Ask for a point now; it waits while no agent is online',
  retry: 'idempotency-key',
  headers: keyed,
  responses: { 202: answers('The job; the same one when it is asked for again', Asked) },
  failures: ['queue_full'],
})

export const listBackupJobs = defineOperation({
  ...reads,
  id: 'listBackupJobs',
  method: 'GET',
  path: `${base}/jobs`,
  summary: 'List what the backup agent did and is to do, newest first',
  query: page,
  responses: {
    200: answers('A page', fields({ items: Type.Array(JobView, { maxItems: pageMax }), next: Next })),
  },
})

export const listBackupPoints = defineOperation({
  ...reads,
  id: 'listBackupPoints',
  method: 'GET',
  path: `${base}/points`,
  summary: 'List the points of the vault that is there now, newest first',
  query: page,
  responses: {
    200: answers('A page', fields({ items: Type.Array(Point, { maxItems: pageMax }), next: Next })),
  },
})

export const verifyBackupPoint = defineOperation({
  ...manages,
  id: 'verifyBackupPoint',
  method: 'POST',
  path: `${base}/points/{id}/verify`,
  summary: 'Ask for every stored byte of a point to be read; the point tells what came of it',
  pathParameters: onPoint,
  retry: 'idempotency-key',
  headers: keyed,
  responses: { 202: answers('The job; the same one when it is asked for again', Asked) },
  failures: ['not_found', 'idempotency_mismatch', 'queue_full'],
})

export const pinBackupPoint = defineOperation({
  ...manages,
  id: 'pinBackupPoint',
  method: 'PUT',
  path: `${base}/points/{id}/pin`,
  summary: 'Keep a point beyond the plan, or no longer',
  pathParameters: onPoint,
  retry: 'idempotent',
  body: jsonBody(fields({ pinned: Type.Boolean() })),
  responses: { 200: answers('The point', Point) },
  failures: ['not_found'],
})

export const getBackupPoint = defineOperation({
  ...reads,
  id: 'getBackupPoint',
  method: 'GET',
  path: `${base}/points/{id}`,
  summary: 'See a point with its tables, and what each repository took then',
  pathParameters: onPoint,
  responses: { 200: answers('The point; what only the vault tells is null while it cannot be read', PointDetails) },
  failures: ['not_found'],
})

const ContentPosition = Type.String({ pattern: patterns.contentCursor, description: 'the next of a page before' })

export const listBackupPointContents = defineOperation({
  ...reads,
  id: 'listBackupPointContents',
  method: 'GET',
  path: `${base}/points/{id}/contents`,
  summary: 'Find a file of the past: what a point holds by name; a page may be empty though others follow',
  pathParameters: onPoint,
  query: fields({
    repository: Type.Optional(RepositoryId),
    kind: Type.Optional(oneOf(contentKinds)),
    name: Type.Optional(text(1, contentNameMaxCharacters)),
    after: Type.Optional(ContentPosition),
    limit: pageLimit,
  }),
  responses: {
    200: answers(
      'A page',
      fields({ items: Type.Array(ContentItem, { maxItems: pageMax }), next: nullable(ContentPosition) }),
    ),
  },
  failures: ['not_found', 'point_unreadable', 'unavailable'],
})

export const deleteBackupPoint = defineOperation({
  ...manages,
  id: 'deleteBackupPoint',
  method: 'DELETE',
  path: `${base}/points/{id}`,
  summary: 'Give up a point that is not pinned; the agent takes it out of the vault',
  pathParameters: onPoint,
  retry: 'idempotent',
  body: jsonBody(
    fields({ confirm: Type.String({ pattern: patterns.dateTime, description: 'an RFC 3339 date-time' }) }),
  ),
  responses: { 204: answersNothing('It is no point any more') },
  failures: ['not_found', 'point_pinned'],
})
