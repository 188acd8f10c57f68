import { newId } from '../kernel/ids.ts'
import { jobLeaseMs, jobsAtOnce } from '../kernel/limits/jobs.ts'
import type { Job, JobKind } from './enqueue.ts'
import { failAttempt, type JobDeps, leaseJob, renewLease } from './leases.ts'

export interface RunnerDeps extends JobDeps {
  readonly report: (message: string, error: unknown) => void
}

/** Runs every job of a kind that is due, some at once, until none is or `stopping()`. */
export const runDueJobs = async <Needs>(
  deps: RunnerDeps & Needs,
  kind: JobKind<Needs>,
  stopping: () => boolean,
): Promise<void> => {
  const worker = async (): Promise<void> => {
    while (!stopping()) {
      const job = await leaseJob(deps, kind.kind, newId(deps.clock.now()))
      if (job === undefined) return
      await attempt(deps, kind, job)
    }
  }
  await Promise.all(Array.from({ length: jobsAtOnce }, worker))
}

const attempt = async <Needs>(deps: RunnerDeps & Needs, kind: JobKind<Needs>, job: Job): Promise<void> => {
  const renewal = setInterval(() => {
    renewLease(deps, job).catch((error: unknown) => deps.report('the lease of a job could not be renewed', error))
  }, jobLeaseMs / 3)
  try {
    await kind.run(deps, job)
  } catch (error) {
    const fault = kind.judge(error)
    deps.report(`attempt ${job.attempts} of job ${job.id} failed with ${fault.errorCode}`, error)
    await failAttempt(deps, job, fault)
  } finally {
    clearInterval(renewal)
  }
}
