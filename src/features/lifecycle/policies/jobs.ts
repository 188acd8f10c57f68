import { timestamp } from '../../../kernel/clock.ts'
import { duePoliciesPage } from '../../../kernel/limits/lifecycle.ts'
import type { BatchDeps } from './batches.ts'
import { duePolicies } from './policy.queries.ts'
import { noteFailedRun, runDue } from './schedule.ts'

export interface ScheduleDeps extends BatchDeps {
  readonly report: (message: string, error: unknown) => void
}

/** Runs the policies whose time has come, one after the other; what fails in one keeps none of the others. */
export const runDuePolicies = async (deps: ScheduleDeps, stopping: () => boolean = () => false): Promise<void> => {
  const { database, clock } = deps
  const now = timestamp(clock.now())
  for (let after = { next_run_at: '', repository: '' }; ; ) {
    const page = await duePolicies(database.reader, now, after, duePoliciesPage)
    for (const row of page) {
      if (stopping() || row.next_run_at === null) return
      const due = { ...row, next_run_at: row.next_run_at }
      after = due
      try {
        await runDue(deps, due, stopping)
      } catch (error) {
        deps.report(`the storage policy of ${row.repository} could not be run; it is tried again next time`, error)
        await noteFailedRun(deps, due)
      }
    }
    if (page.length < duePoliciesPage) return
  }
}
