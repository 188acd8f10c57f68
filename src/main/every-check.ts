import { type CheckedDeps, checkContent } from '../content/checks/checks.ts'
import type { Check } from '../contract/slice.ts'
import { checkJson, checkNumbers, checkRelations } from '../database/integrity/checks.ts'
import { DatabaseUnavailable } from '../database/unavailable.ts'
import { checkJobs } from '../jobs/checks.ts'
import { checkJournals } from '../journal/repository/checks.ts'
import { damage, type Finding } from '../kernel/finding.ts'
import { checksOfSlices } from './slices.ts'

/** All that `svc doctor` proves of a store. */
export const checks: readonly Check<CheckedDeps>[] = [
  { of: 'bytes, claims and counters', look: checkContent, opensBytes: true },
  { of: 'JSON', look: ({ database }) => checkJson(database.reader) },
  { of: 'relations', look: ({ database }) => checkRelations(database.reader) },
  { of: 'numbers and names', look: ({ database }) => checkNumbers(database.reader) },
  ...checksOfSlices,
  { of: 'jobs', look: checkJobs },
  { of: 'journals', look: ({ database }) => checkJournals(database.reader) },
]

/** What a check finds. One that cannot go on finds that, and the others are none the worse for it. */
export async function* findingsOf({ of, look }: Check<CheckedDeps>, deps: CheckedDeps): AsyncGenerator<Finding> {
  try {
    yield* look(deps)
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error
    yield damage(`the check of ${of} could not go on: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Everything, once. */
export async function* everyCheck(deps: CheckedDeps): AsyncGenerator<Finding> {
  for (const check of checks) yield* findingsOf(check, deps)
}
