import type { Database } from '../database/database.ts'
import { type Clock, timestamp } from '../kernel/clock.ts'
import { endedJobsKeptMs, jobAttemptsMax, jobFirstPauseMs, jobLeaseMs } from '../kernel/limits/jobs.ts'
import { upkeepBatch } from '../kernel/limits/upkeep.ts'
import { endJob, type Job, type JobFault } from './enqueue.ts'
import { deleteJobsEndedBefore, lockDueJob, lockHeldJob, updateJob } from './jobs.queries.ts'

/** What a worker does with jobs: takes one under a lease, keeps it, gives it back. */
export interface JobDeps {
  readonly database: Database
  readonly clock: Clock
}

/** Takes the job that is due longest, if there is one: it is ours until the lease ends unless we renew it. */
export const leaseJob = ({ database, clock }: JobDeps, kind: Job['kind'], holder: string): Promise<Job | undefined> =>
  database.transaction(
    async (tx) => {
      for (;;) {
        const nowMs = clock.now()
        const job = await lockDueJob(tx, kind, timestamp(nowMs))
        if (job === undefined) return undefined
        // Its workers went silent each time; whatever it does to them, it has done often enough.
        if (job.attempts >= jobAttemptsMax) {
          await endJob(tx, job, timestamp(nowMs), { errorCode: 'interrupted', lastingly: false })
          continue
        }
        const to = {
          status: 'running',
          attempts: job.attempts + 1,
          holder,
          due_at: timestamp(nowMs + jobLeaseMs),
        } as const
        await updateJob(tx, job.id, to)
        return { ...job, ...to }
      }
    },
    { durability: 'relaxed' },
  )

/** Keeps the lease. False when the job is no longer ours. */
export const renewLease = ({ database, clock }: JobDeps, job: Job): Promise<boolean> =>
  database.transaction(
    async (tx) => {
      if (job.holder === null || (await lockHeldJob(tx, job.id, job.holder)) === undefined) return false
      await updateJob(tx, job.id, { due_at: timestamp(clock.now() + jobLeaseMs) })
      return true
    },
    { durability: 'relaxed' },
  )

/** Writes down that our attempt failed: again after a pause, or never. Nothing when the job is no longer ours. */
export const failAttempt = ({ database, clock }: JobDeps, job: Job, fault: JobFault): Promise<void> =>
  database.transaction(async (tx) => {
    const held = job.holder === null ? undefined : await lockHeldJob(tx, job.id, job.holder)
    if (held === undefined) return
    const nowMs = clock.now()
    if (fault.lastingly || held.attempts >= jobAttemptsMax) return endJob(tx, held, timestamp(nowMs), fault)
    const pauseMs = jobFirstPauseMs * 3 ** (held.attempts - 1)
    await updateJob(tx, held.id, {
      status: 'queued',
      error_code: fault.errorCode,
      holder: null,
      due_at: timestamp(nowMs + pauseMs),
    })
  })

/** Forgets jobs that ended long ago. */
export const forgetJobs = async ({ database, clock }: JobDeps): Promise<void> => {
  const before = timestamp(clock.now() - endedJobsKeptMs)
  while ((await database.transaction((tx) => deleteJobsEndedBefore(tx, before, upkeepBatch))) === upkeepBatch);
}
