import type { Database } from '../../../database/database.ts'
import { damage, type Finding } from '../../../kernel/finding.ts'
import { packagePageManifestBytesMax } from '../../../kernel/limits/packages.ts'
import { checkPage, findingsMax } from '../../../kernel/limits/upkeep.ts'
import { freedWithoutDeleted, packagesBesideTheirTime, setPublication } from './packages.queries.ts'
import { deriveStages, packagesBesideStages } from './stages.queries.ts'
import { type VersionTable, versionRows, versionSizesAfter } from './versions.queries.ts'
import { isAsItsManifest } from './written.ts'

/**
 * Proves that packages are found by the stages and times of their files, and that a freed version belongs to a deleted
 * file.
 */
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
  for (const table of ['packages', 'freed_packages'] as const) yield* checkVersions(database, table)
}

/** Versions are found by keys. These, and all that is shown of a version, stand in its manifest. */
async function* checkVersions({ reader }: Database, table: VersionTable): AsyncGenerator<Finding> {
  let found = 0
  for (let after = ''; found < findingsMax; ) {
    const sizes = await versionSizesAfter(reader, table, after, checkPage)
    for (const ids of batchesOf(sizes))
      for (const row of await versionRows(reader, table, ids))
        if (!isAsItsManifest(row)) {
          found += 1
          yield damage(
            `repository ${row.repository}: the package ${row.artifact_id} is not the version that its manifest says`,
          )
        }
    const last = sizes.at(-1)
    if (last === undefined || sizes.length < checkPage) return
    after = last.artifact_id
  }
}

/** As many at a time as have their manifests in a page's room. */
const batchesOf = (sizes: Awaited<ReturnType<typeof versionSizesAfter>>): string[][] => {
  const batches: string[][] = []
  let room = 0
  for (const { artifact_id, manifest_bytes } of sizes) {
    room -= manifest_bytes
    if (room < 0 || batches.length === 0) {
      batches.push([])
      room = packagePageManifestBytesMax - manifest_bytes
    }
    batches.at(-1)?.push(artifact_id)
  }
  return batches
}
