import Type, { type Static } from 'typebox'
import {
  ByteCount,
  fields,
  nullable,
  oneOf,
  RepositoryId,
  Sha256Text,
  Timestamp,
  Uuid,
} from '../../../contract/schemas.ts'
import {
  backupWarningsMax,
  retentionDailyMax,
  retentionMonthlyMax,
  retentionWeeklyMax,
  timezoneMaxCharacters,
} from '../../../kernel/limits/backups.ts'
import { revisionMax } from '../../../kernel/limits/catalog.ts'

const Code = Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' })
const Count = Type.Integer({ minimum: 0 })

export const Schedule = {
  enabled: Type.Boolean(),
  hour: Type.Integer({ minimum: 0, maximum: 23 }),
  minute: Type.Integer({ minimum: 0, maximum: 59 }),
  timezone: Type.String({ minLength: 1, maxLength: timezoneMaxCharacters, description: 'a name of a time zone' }),
  retention: fields({
    daily: Type.Integer({ minimum: 0, maximum: retentionDailyMax }),
    weekly: Type.Integer({ minimum: 0, maximum: retentionWeeklyMax }),
    monthly: Type.Integer({ minimum: 0, maximum: retentionMonthlyMax }),
  }),
}

export const Plan = fields({ ...Schedule, revision: Type.Integer({ minimum: 0, maximum: revisionMax }) })
export type Plan = Static<typeof Plan>

export const jobKinds = ['capture', 'verify', 'retention'] as const
export const jobStates = ['queued', 'running', 'committing', 'completed', 'failed', 'interrupted'] as const

export const JobView = fields({
  id: Uuid,
  kind: oneOf(jobKinds),
  state: oneOf(jobStates),
  phase: nullable(Code),
  startedAt: Timestamp,
  finishedAt: nullable(Timestamp),
  errorCode: nullable(Code),
  pointId: nullable(Uuid),
  progress: fields({ bytesCopied: ByteCount, bytesTotal: ByteCount, blobsCopied: Count, blobsTotal: Count }),
})
export type JobView = Static<typeof JobView>

const ofPoint = {
  id: Uuid,
  snapshotAt: Timestamp,
  completedAt: Timestamp,
  blobs: Count,
  contentBytes: ByteCount,
  newBytes: ByteCount,
  tables: Count,
  rows: Count,
  pinned: Type.Boolean(),
  verifiedAt: nullable(Timestamp),
  verifyDepth: nullable(oneOf(['structural', 'deep'])),
  verifyError: nullable(Code),
}

export const Point = fields(ofPoint)
export type Point = Static<typeof Point>

/** What only the vault tells is null where it cannot be read now. */
export const PointDetails = fields({
  ...ofPoint,
  schema: nullable(Count),
  program: nullable(Type.String()),
  tableSizes: nullable(Type.Array(fields({ name: Type.String(), rows: Count, storedBytes: ByteCount }))),
  repositories: nullable(
    Type.Array(fields({ repository: RepositoryId, publishedBytes: ByteCount, deletedBytes: ByteCount })),
  ),
})
export type PointDetails = Static<typeof PointDetails>

export const contentKinds = ['path', 'artifact', 'image-tag', 'image', 'npm-version', 'lfs-object'] as const

export const ContentItem = fields({
  kind: oneOf(contentKinds),
  repository: RepositoryId,
  name: Type.String(),
  id: nullable(Uuid),
  bytes: nullable(ByteCount),
  sha256: nullable(Sha256Text),
})
export type ContentItem = Static<typeof ContentItem>

export const warningCodes = [
  'vault_not_configured',
  'agent_offline',
  'schedule_disabled',
  'no_backup_yet',
  'backup_stale',
  'last_run_failed',
  'vault_unavailable',
  'vault_low_space',
  'verify_failed',
  'never_deep_verified',
] as const

export const Status = fields({
  vault: fields({
    configured: Type.Boolean(),
    id: nullable(Uuid),
    available: Type.Boolean(),
    encrypted: nullable(Type.Boolean()),
    freeBytes: nullable(ByteCount),
    totalBytes: nullable(ByteCount),
  }),
  agent: fields({
    online: Type.Boolean(),
    lastSeenAt: nullable(Timestamp),
    version: nullable(Type.String({ maxLength: 64 })),
  }),
  plan: Plan,
  lastCompleted: nullable(Point),
  nextRunAt: nullable(Timestamp),
  running: nullable(JobView),
  lastProven: nullable(fields({ pointId: Uuid, snapshotAt: Timestamp, provenAt: Timestamp })),
  rehearsalError: nullable(Code),
  warnings: Type.Array(fields({ code: oneOf(warningCodes), severity: oneOf(['warning', 'critical']) }), {
    maxItems: backupWarningsMax,
  }),
})
export type Status = Static<typeof Status>
export type Warning = Status['warnings'][number]
