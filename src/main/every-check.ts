import { type CheckedParts, checkContent } from '../content/checks.ts'
import { checkAccounts } from '../features/accounts/checks.ts'
import { checkAnnotations } from '../features/annotations/checks.ts'
import { checkArtifacts } from '../features/artifacts/checks.ts'
import { checkAssets } from '../features/assets/checks.ts'
import { checkAttachments } from '../features/attachments/checks.ts'
import { checkPackages } from '../features/packages/checks.ts'
import { checkSearch } from '../features/search/checks.ts'
import { checkStages } from '../features/stages/checks.ts'
import { checkUploads } from '../features/uploads/checks.ts'
import { checkJobs } from '../jobs/checks.ts'
import { checkJournals } from '../journal/checks.ts'
import type { Finding } from '../kernel/finding.ts'

/** Everything that `svc doctor` proves of a store. */
export async function* everyCheck(parts: CheckedParts): AsyncGenerator<Finding> {
  yield* checkContent(parts)
  yield* checkArtifacts(parts)
  yield* checkAnnotations(parts.database)
  yield* checkSearch(parts.database)
  yield* checkAssets(parts.database.reader)
  yield* checkAttachments(parts.database)
  yield* checkStages(parts.database.reader)
  yield* checkPackages(parts.database)
  yield* checkUploads(parts)
  yield* checkAccounts(parts.database)
  yield* checkJobs(parts)
  yield* checkJournals(parts.database.reader)
}
