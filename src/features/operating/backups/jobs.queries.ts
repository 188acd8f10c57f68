import type { Queries, Transaction } from '../../../database/database.ts'
import type { BackupJobsTable } from '../../../database/tables/backups.ts'
import type { Position } from './positions.ts'

export type Job = BackupJobsTable

/** False when whoever asks has used the key meanwhile. */
export const insertBackupJob = async (tx: Transaction, row: Job): Promise<boolean> => {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('backup_jobs')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

export const backupJobAskedFor = (q: Queries, by: string, kind: Job['kind'], key: string): Promise<Job | undefined> =>
  q
    .selectFrom('backup_jobs')
    .selectAll()
    .where('requested_by', '=', by)
    .where('kind', '=', kind)
    .where('idempotency_key', '=', key)
    .executeTakeFirst()

export const findBackupJob = (q: Queries, id: string): Promise<Job | undefined> =>
  q.selectFrom('backup_jobs').selectAll().where('id', '=', id).executeTakeFirst()

/** Jobs that have not ended, oldest first. */
export const openBackupJobs = (q: Queries, limit: number): Promise<Job[]> =>
  q
    .selectFrom('backup_jobs')
    .selectAll()
    .where('finished_at', 'is', null)
    .orderBy('requested_at')
    .orderBy('id')
    .limit(limit)
    .execute()

/** How many of what somebody asked for has not ended; no more are counted than so many. */
export const countAskedBackupJobs = async (q: Queries, limit: number): Promise<number> => {
  const open = q.selectFrom('backup_jobs').select('id').where('finished_at', 'is', null)
  return (await open.where('requested_by', 'is not', null).limit(limit).execute()).length
}

/** What is being done. */
export const runningBackupJob = (q: Queries): Promise<Job | undefined> =>
  q
    .selectFrom('backup_jobs')
    .selectAll()
    .where('finished_at', 'is', null)
    .where('state', '<>', 'queued')
    .orderBy('requested_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()

/** Jobs, newest first. */
export const listBackupJobs = (q: Queries, before: Position | null, limit: number): Promise<Job[]> =>
  q
    .selectFrom('backup_jobs')
    .selectAll()
    .$if(before !== null, (query) =>
      query.where((eb) => eb(eb.refTuple('requested_at', 'id'), '<', eb.tuple(before?.at ?? '', before?.id ?? ''))),
    )
    .orderBy('requested_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

/** Those of a kind that were asked for by then, newest first. */
export const lastBackupJobs = (q: Queries, kind: Job['kind'], until: string, limit: number): Promise<Job[]> =>
  q
    .selectFrom('backup_jobs')
    .selectAll()
    .where('kind', '=', kind)
    .where('requested_at', '<=', until)
    .orderBy('requested_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

/** Changes a job that has not ended. */
export const updateOpenBackupJob = async (tx: Transaction, id: string, to: Partial<Job>): Promise<boolean> => {
  const { numUpdatedRows } = await tx
    .updateTable('backup_jobs')
    .set(to)
    .where('id', '=', id)
    .where('finished_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Changes what waits to verify a point, and was asked for by then. */
export const updateVerifiesAskedFor = async (
  tx: Transaction,
  point: string,
  until: string,
  to: Partial<Job>,
): Promise<void> => {
  await tx
    .updateTable('backup_jobs')
    .set(to)
    .where('finished_at', 'is', null)
    .where('kind', '=', 'verify')
    .where('point_id', '=', point)
    .where('state', '=', 'queued')
    .where('requested_at', '<=', until)
    .execute()
}

/** Ends what somebody was at who is gone. */
export const interruptBackupJobs = async (tx: Transaction, now: string): Promise<void> => {
  await tx
    .updateTable('backup_jobs')
    .set({ state: 'interrupted', finished_at: now, error_code: 'agent_gone' })
    .where('finished_at', 'is', null)
    .where('state', 'in', ['running', 'committing'])
    .execute()
}

export const forgetBackupJobs = async (tx: Transaction, before: string): Promise<void> => {
  await tx.deleteFrom('backup_jobs').where('requested_at', '<', before).where('finished_at', 'is not', null).execute()
}
