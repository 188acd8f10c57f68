import { checkContent } from '../content/checks.ts'
import type { Database } from '../database/database.ts'
import { checkAccounts } from '../features/accounts/checks.ts'
import { checkArtifacts } from '../features/artifacts/checks.ts'
import { checkAssets } from '../features/assets/checks.ts'
import { checkJobs } from '../jobs/checks.ts'
import type { Finding } from '../kernel/finding.ts'
import type { BlobStore } from '../ports/blob-store.ts'

/** Everything that `svc doctor` proves of a store. */
export async function* everyCheck(parts: { database: Database; store: BlobStore }): AsyncGenerator<Finding> {
  const { reader } = parts.database
  yield* checkContent(parts)
  yield* checkArtifacts(reader)
  yield* checkAssets(reader)
  yield* checkAccounts(reader)
  yield* checkJobs(reader)
}
