import { newId } from '../kernel/ids.ts'
import { jobLeaseMs, jobsAtOnce } from '../kernel/limits/jobs.ts'
import type { Job, JobKind } from './enqueue.ts'
import { failAttempt, type JobParts, leaseJob, renewLease } from './leases.ts'

export interface RunnerParts extends JobParts {
  readonly report: (message: string, error: unknown) => void
}

/** Runs every job of a kind that is due, some at once, until none is or `stopping()`. */
export const runDueJobs = async <Needs>(
  parts: RunnerParts & Needs,
  kind: JobKind<Needs>,
  stopping: () => boolean,
): Promise<void> => {
  const worker = async (): Promise<void> => {
    while (!stopping()) {
      const job = await leaseJob(parts, kind.kind, newId(parts.clock.now()))
      if (job === undefined) return
      await attempt(parts, kind, job)
    }
  }
  await Promise.all(Array.from({ length: jobsAtOnce }, worker))
}

const attempt = async <Needs>(parts: RunnerParts & Needs, kind: JobKind<Needs>, job: Job): Promise<void> => {
  const renewal = setInterval(() => {
    renewLease(parts, job).catch((error: unknown) => parts.report('the lease of a job could not be renewed', error))
  }, jobLeaseMs / 3)
  try {
    await kind.run(parts, job)
  } catch (error) {
    const fault = kind.judge(error)
    parts.report(`attempt ${job.attempts} of job ${job.id} failed with ${fault.errorCode}`, error)
    await failAttempt(parts, job, fault)
  } finally {
    clearInterval(renewal)
  }
}
