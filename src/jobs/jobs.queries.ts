import type { Queries, Transaction } from '../database/database.ts'
import type { JobsTable } from '../database/tables/jobs.ts'
import { idsBeyond, type Start } from '../kernel/order.ts'

export const findJob = (q: Queries, id: string): Promise<JobsTable | undefined> =>
  q.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst()

export const findJobOf = (q: Queries, kind: JobsTable['kind'], subject: string): Promise<JobsTable | undefined> =>
  q.selectFrom('jobs').selectAll().where('kind', '=', kind).where('subject', '=', subject).executeTakeFirst()

export const lockJobOf = (tx: Transaction, kind: JobsTable['kind'], subject: string): Promise<JobsTable | undefined> =>
  tx
    .selectFrom('jobs')
    .selectAll()
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .forUpdate()
    .executeTakeFirst()

export const openJobsOf = async (q: Queries, owner: string): Promise<number> =>
  (
    await q
      .selectFrom('jobs')
      .select((eb) => eb.fn.countAll<number>().as('jobs'))
      .where('owner', '=', owner)
      .where('ended_at', 'is', null)
      .executeTakeFirstOrThrow()
  ).jobs

/** Jobs that an owner asked for, by their ids. */
export const listJobsOf = (q: Queries, owner: string, start: Start, limit: number): Promise<JobsTable[]> => {
  const { is, id } = idsBeyond(start)
  return q
    .selectFrom('jobs')
    .selectAll()
    .where('owner', '=', owner)
    .where('id', is, id)
    .orderBy('id', start.order)
    .limit(limit)
    .execute()
}

export const insertJob = async (tx: Transaction, row: JobsTable): Promise<void> => {
  await tx.insertInto('jobs').values(row).execute()
}

export const updateJob = async (tx: Transaction, id: string, to: Partial<JobsTable>): Promise<void> => {
  await tx.updateTable('jobs').set(to).where('id', '=', id).execute()
}

/** The job that is due longest, locked; those that another worker is just taking are passed over. */
export const lockDueJob = (tx: Transaction, kind: JobsTable['kind'], now: string): Promise<JobsTable | undefined> =>
  tx
    .selectFrom('jobs')
    .selectAll()
    .where('kind', '=', kind)
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()

export const lockHeldJob = (tx: Transaction, id: string, holder: string): Promise<JobsTable | undefined> =>
  tx
    .selectFrom('jobs')
    .selectAll()
    .where('id', '=', id)
    .where('holder', '=', holder)
    .where('status', '=', 'running')
    .forUpdate()
    .executeTakeFirst()

export const deleteJobsEndedBefore = async (tx: Transaction, before: string, limit: number): Promise<number> => {
  const old = tx.selectFrom('jobs').select('id').where('ended_at', '<=', before).limit(limit)
  const { numDeletedRows } = await tx.deleteFrom('jobs').where('id', 'in', old).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Jobs that are neither completed nor failed. */
export const openJobs = async (q: Queries): Promise<number> =>
  (
    await q
      .selectFrom('jobs')
      .select((eb) => eb.fn.countAll<number>().as('jobs'))
      .where('ended_at', 'is', null)
      .executeTakeFirstOrThrow()
  ).jobs

/** Jobs that nobody may take before that moment. */
export const jobsDueAfter = (q: Queries, moment: string, limit: number): Promise<Pick<JobsTable, 'id' | 'due_at'>[]> =>
  q.selectFrom('jobs').select(['id', 'due_at']).where('due_at', '>', moment).limit(limit).execute()
