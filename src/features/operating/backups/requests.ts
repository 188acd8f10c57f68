import type { Database, Queries, Transaction } from '../../../database/database.ts'
import { lockInstallation } from '../../../database/moving/installation.queries.ts'
import type { BackupJobsTable } from '../../../database/tables/backups.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { newId } from '../../../kernel/ids.ts'
import { openBackupRequestsMax } from '../../../kernel/limits/backups.ts'
import {
  backupJobAskedFor,
  countAskedBackupJobs,
  findBackupJob,
  insertBackupJob,
  lastBackupJobs,
  listBackupJobs,
  openBackupJobs,
  runningBackupJob,
} from './jobs.queries.ts'
import { untilNow } from './keeping.ts'
import { findPoint } from './points.queries.ts'
import { type Position, positionText } from './positions.ts'
import { jobView } from './views.ts'
import type { JobView } from './vocabulary.ts'

interface RequestDeps {
  readonly database: Database
  readonly clock: Clock
}

export type BackupJob = BackupJobsTable

/** Who asks, and under which key they may ask again without asking twice. */
export interface Asker {
  readonly by: string
  readonly key: string
}

/** Asks for a point, or answers what was asked for under this key. 507 `queue_full` when too much is asked for. */
export const requestCapture = ({ database, clock }: RequestDeps, asker: Asker): Promise<BackupJob> =>
  database.transaction(async (tx) => {
    const known = await backupJobAskedFor(tx, asker.by, 'capture', asker.key)
    return known ?? (await enqueueBackup(tx, clock.now(), 'capture', null, asker))
  })

/**
 * Asks for a look at every byte of a point. 404 for a point that this vault does not have, 409 `idempotency_mismatch`
 * for a key that was used for another one.
 */
export const requestVerify = (
  { database, clock }: RequestDeps,
  vault: string | null,
  pointId: string,
  asker: Asker,
): Promise<BackupJob> =>
  database.transaction(async (tx) => {
    const known = await backupJobAskedFor(tx, asker.by, 'verify', asker.key)
    if (known === undefined && (vault === null || (await findPoint(tx, vault, pointId)) === undefined))
      throw notFound('point')
    const job = known ?? (await enqueueBackup(tx, clock.now(), 'verify', pointId, asker))
    if (job.point_id !== pointId)
      throw new Failure('idempotency_mismatch', 'This key was used to verify another point.')
    return job
  })

/**
 * Asks for work of the agent; answers what was asked for meanwhile under the same key. What nobody asked for by name is
 * not counted against those who do.
 */
export const enqueueBackup = async (
  tx: Transaction,
  nowMs: number,
  kind: BackupJob['kind'],
  pointId: string | null,
  asker: Asker | null,
): Promise<BackupJob> => {
  // One after another: several at the very same moment would not see each other.
  if (asker !== null) await lockInstallation(tx)
  if (asker !== null && (await countAskedBackupJobs(tx, openBackupRequestsMax)) >= openBackupRequestsMax)
    throw new Failure(
      'queue_full',
      `${openBackupRequestsMax} backup requests are open; ask again when some have ended. Is an agent running (svc agent)?`,
    )
  const row: BackupJob = {
    id: newId(nowMs),
    kind,
    state: 'queued',
    phase: null,
    requested_at: timestamp(nowMs),
    started_at: null,
    finished_at: null,
    error_code: null,
    point_id: pointId,
    bytes_copied: 0,
    bytes_total: 0,
    blobs_copied: 0,
    blobs_total: 0,
    requested_by: asker?.by ?? null,
    idempotency_key: asker?.key ?? null,
  }
  if (await insertBackupJob(tx, row)) return row
  const faster = asker === null ? undefined : await backupJobAskedFor(tx, asker.by, kind, asker.key)
  if (faster === undefined) throw new Error('a job was not taken, and nobody was faster')
  return faster
}

/** Asks for a retention. One that waits will do; one that has begun has made up its mind. */
export const askForRetention = async (tx: Transaction, nowMs: number): Promise<void> => {
  const open = await openBackupJobs(tx, 1_000)
  if (!open.some(({ kind, state }) => kind === 'retention' && state === 'queued'))
    await enqueueBackup(tx, nowMs, 'retention', null, null)
}

export const readBackupJob = (q: Queries, id: string): Promise<BackupJob | undefined> => findBackupJob(q, id)

/** Jobs, newest first, and where the next page begins. */
export const backupJobPage = async (
  q: Queries,
  after: Position | null,
  limit: number,
): Promise<{ items: JobView[]; next: string | null }> => {
  const rows = await listBackupJobs(q, after, limit)
  const last = rows.length === limit ? rows.at(-1) : undefined
  return {
    items: rows.map(jobView),
    next: last === undefined ? null : positionText({ at: last.requested_at, id: last.id }),
  }
}

/** The job that is being done; null while none is. */
export const runningBackup = async (q: Queries): Promise<BackupJob | null> => (await runningBackupJob(q)) ?? null

/** The last job of a kind that has ended. */
export const lastEnded = async (q: Queries, kind: BackupJob['kind'], nowMs: number): Promise<BackupJob | null> =>
  (await lastBackupJobs(q, kind, untilNow(nowMs), openBackupRequestsMax + 1)).find((job) => job.finished_at !== null) ??
  null
