import { moveCounter } from '../database/counters.queries.ts'
import type { Queries, Transaction } from '../database/database.ts'
import type { JobsTable } from '../database/tables/jobs.ts'
import { timestamp } from '../kernel/clock.ts'
import { Failure } from '../kernel/failure.ts'
import { newId } from '../kernel/ids.ts'
import { openJobsMax, openJobsPerCallerMax } from '../kernel/limits/jobs.ts'
import type { Start } from '../kernel/order.ts'
import { findJob, findJobOf, insertJob, listJobsOf, lockJobOf, openJobsOf, updateJob } from './jobs.queries.ts'

/**
 * Work for later, as rows (I4): asked for in the transaction that makes it necessary, done by whichever worker gets to
 * it. This floor knows no job by name; what a kind does stands with its feature.
 *
 *     queued -> running            a worker takes it, under a lease that it renews
 *     running -> completed         in the transaction of what was done
 *     running -> queued            it failed, or its worker went silent; again after a pause, up to five attempts
 *     running -> failed            at once where trying again changes nothing, else after the last attempt
 *     failed -> queued             asked for again, unless that changes nothing: a new generation
 */
export type Job = JobsTable

export interface Wanted {
  readonly kind: Job['kind']
  readonly subject: string
  readonly repository: string
  readonly owner: string
  readonly credentialId: string | null
}

/** `lastingly`: trying again would change nothing. */
export interface JobFault {
  readonly errorCode: string
  readonly lastingly: boolean
}

/**
 * Asks for a job, under a lock of its subject. The one that exists for the subject is answered as it is, unless it
 * failed and may do better now. 507 `queue_full` when the caller or the server has too many open ones.
 */
export const enqueue = async (tx: Transaction, wanted: Wanted, nowMs: number): Promise<Job> => {
  const known = await lockJobOf(tx, wanted.kind, wanted.subject)
  if (known !== undefined && (known.status !== 'failed' || known.lasting === 1)) return known
  await countOneMore(tx, wanted.owner)
  const fresh = { status: 'queued', attempts: 0, error_code: null, due_at: timestamp(nowMs), ended_at: null } as const
  if (known !== undefined) {
    const again = {
      ...fresh,
      generation: known.generation + 1,
      owner: wanted.owner,
      credential_id: wanted.credentialId,
    }
    await updateJob(tx, known.id, again)
    return { ...known, ...again }
  }
  const row: Job = {
    ...fresh,
    id: newId(nowMs),
    kind: wanted.kind,
    subject: wanted.subject,
    repository: wanted.repository,
    owner: wanted.owner,
    credential_id: wanted.credentialId,
    generation: 0,
    lasting: 0,
    created_at: timestamp(nowMs),
    holder: null,
  }
  await insertJob(tx, row)
  return row
}

/** The counter's lock makes those wait who ask at the same time, so that both limits hold. */
const countOneMore = async (tx: Transaction, owner: string): Promise<void> => {
  if ((await moveCounter(tx, 'open_jobs', 1)) > openJobsMax)
    throw new Failure('queue_full', `The server has ${openJobsMax} open jobs; try again when some have ended.`)
  if ((await openJobsOf(tx, owner)) >= openJobsPerCallerMax)
    throw new Failure('queue_full', `You have ${openJobsPerCallerMax} open jobs; try again when some have ended.`)
}

export const readJob = (q: Queries, id: string): Promise<Job | undefined> => findJob(q, id)

/** Jobs that an owner asked for, open and ended. */
export const jobsOf = (q: Queries, owner: string, start: Start, limit: number): Promise<Job[]> =>
  listJobsOf(q, owner, start, limit)

/** The job of a kind that is about this, open or ended. */
export const readJobOf = (q: Queries, kind: Job['kind'], subject: string): Promise<Job | undefined> =>
  findJobOf(q, kind, subject)

/** Ends the open job of a subject, in the transaction that decided it. Nothing happens where there is none. */
export const endJobOf = async (
  tx: Transaction,
  kind: Job['kind'],
  subject: string,
  now: string,
  fault: JobFault | null,
): Promise<void> => {
  const job = await lockJobOf(tx, kind, subject)
  if (job !== undefined && job.ended_at === null) await endJob(tx, job, now, fault)
}

/** Ends a job whose row is locked. */
export const endJob = async (tx: Transaction, job: Job, now: string, fault: JobFault | null): Promise<void> => {
  await moveCounter(tx, 'open_jobs', -1)
  await updateJob(tx, job.id, {
    status: fault === null ? 'completed' : 'failed',
    error_code: fault?.errorCode ?? null,
    lasting: fault?.lastingly === true ? 1 : 0,
    due_at: null,
    holder: null,
    ended_at: now,
  })
}

/** What a kind of job does. */
export interface JobKind<Needs> {
  readonly kind: Job['kind']
  /** Does it, and ends the job in the transaction that makes it so. Throws when it could not. */
  readonly run: (needs: Needs, job: Job) => Promise<void>
  /** What a failure means for the job. */
  readonly judge: (error: unknown) => JobFault
}
