import { type CheckedParts, checkContent } from '../content/checks.ts'
import { checkJson, checkNumbers, checkRelations } from '../database/integrity/checks.ts'
import { DatabaseUnavailable } from '../database/unavailable.ts'
import { checkAnnotations } from '../features/catalog/annotations/checks.ts'
import { checkArtifacts } from '../features/catalog/artifacts/checks.ts'
import { checkAssets } from '../features/catalog/assets/checks.ts'
import { checkAttachments } from '../features/catalog/attachments/checks.ts'
import { checkPackages } from '../features/catalog/packages/checks.ts'
import { checkSearch } from '../features/catalog/search/checks.ts'
import { checkStages } from '../features/catalog/stages/checks.ts'
import { checkAccounts } from '../features/identity/accounts/checks.ts'
import { checkPolicies } from '../features/lifecycle/policies/checks.ts'
import { checkUploads } from '../features/transfers/uploads/checks.ts'
import { checkJobs } from '../jobs/checks.ts'
import { checkJournals } from '../journal/checks.ts'
import { damage, type Finding } from '../kernel/finding.ts'

/** Looks at one thing that has to be so. Whoever takes no more findings than it can use stops it. */
export interface Check {
  readonly of: string
  readonly look: (parts: CheckedParts) => AsyncIterable<Finding>
}

/** All that `svc doctor` proves of a store. */
export const checks: readonly Check[] = [
  { of: 'bytes, claims and counters', look: checkContent },
  { of: 'JSON', look: ({ database }) => checkJson(database.reader) },
  { of: 'relations', look: ({ database }) => checkRelations(database.reader) },
  { of: 'numbers and names', look: ({ database }) => checkNumbers(database.reader) },
  { of: 'files and claims', look: checkArtifacts },
  { of: 'annotations', look: ({ database }) => checkAnnotations(database) },
  { of: 'search', look: ({ database }) => checkSearch(database) },
  { of: 'paths', look: ({ database }) => checkAssets(database.reader) },
  { of: 'attachments', look: ({ database }) => checkAttachments(database) },
  { of: 'stages', look: ({ database }) => checkStages(database.reader) },
  { of: 'packages', look: ({ database }) => checkPackages(database) },
  { of: 'storage policies', look: ({ database }) => checkPolicies(database.reader) },
  { of: 'uploads', look: checkUploads },
  { of: 'accounts', look: ({ database }) => checkAccounts(database) },
  { of: 'jobs', look: checkJobs },
  { of: 'journals', look: ({ database }) => checkJournals(database.reader) },
]

/** What a check finds. One that cannot go on finds that, and the others are none the worse for it. */
export async function* findingsOf({ of, look }: Check, parts: CheckedParts): AsyncGenerator<Finding> {
  try {
    yield* look(parts)
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error
    yield damage(`the check of ${of} could not go on: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Everything, once. */
export async function* everyCheck(parts: CheckedParts): AsyncGenerator<Finding> {
  for (const check of checks) yield* findingsOf(check, parts)
}
