import type { BackupJobsTable, BackupPlanTable, BackupPointsTable } from '../../../database/tables/backups.ts'
import type { JobView, Plan, Point } from './vocabulary.ts'

export const planView = (row: BackupPlanTable): Plan => ({
  enabled: row.enabled === 1,
  hour: row.hour,
  minute: row.minute,
  timezone: row.timezone,
  retention: { daily: row.daily, weekly: row.weekly, monthly: row.monthly },
  revision: row.revision,
})

export const jobView = (row: BackupJobsTable): JobView => ({
  id: row.id,
  kind: row.kind,
  state: row.state,
  phase: row.phase,
  startedAt: row.started_at ?? row.requested_at,
  finishedAt: row.finished_at,
  errorCode: row.error_code,
  pointId: row.point_id,
  progress: {
    bytesCopied: String(row.bytes_copied),
    bytesTotal: String(row.bytes_total),
    blobsCopied: row.blobs_copied,
    blobsTotal: row.blobs_total,
  },
})

export const pointView = (row: BackupPointsTable): Point => ({
  id: row.id,
  snapshotAt: row.snapshot_at,
  completedAt: row.completed_at,
  blobs: row.blobs,
  contentBytes: String(row.content_bytes),
  newBytes: String(row.new_bytes),
  tables: row.table_count,
  rows: row.row_count,
  pinned: row.pinned === 1,
  verifiedAt: row.verified_at,
  verifyDepth: row.verify_depth,
  verifyError: row.missing_since === null ? row.verify_error : 'missing',
})
