import type { Database } from '../../database/database.ts'
import { damage, type Finding } from '../../kernel/finding.ts'
import { findingsMax } from '../../kernel/limits.ts'
import { freedWithoutDeleted, packagesBesideTheirTime, setPublication } from './packages.queries.ts'
import { deriveStages, packagesBesideStages } from './stages.queries.ts'

/** Proves that packages are found by the stages and times of their files, and that a freed version belongs to a deleted file. */
export async function* checkPackages(database: Database): AsyncGenerator<Finding> {
  for (const { artifact_id, repository } of await packagesBesideStages(database.reader, findingsMax))
    yield damage(
      `repository ${repository}: the package ${artifact_id} is not found by the stages that its file has reached`,
      () => database.transaction((tx) => deriveStages(tx, artifact_id)),
    )
  for (const { artifact_id, repository, published_at } of await packagesBesideTheirTime(database.reader, findingsMax))
    yield damage(
      `repository ${repository}: the package ${artifact_id} is said to be published at another time than its file`,
      () => database.transaction((tx) => setPublication(tx, artifact_id, published_at)),
    )
  for (const { artifact_id, repository } of await freedWithoutDeleted(database.reader, findingsMax))
    yield damage(`repository ${repository}: ${artifact_id} was a package, and is no deleted file that can come back`)
}
