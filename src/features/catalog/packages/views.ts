import type { PackageRow } from './listing.queries.ts'
import type { Chosen } from './resolve.queries.ts'

/** A package version as it is shown. */
export interface PackageVersion {
  readonly group: string
  readonly name: string
  readonly version: string
  readonly artifactId: string
  readonly manifest: Record<string, unknown>
}

export const toPackageVersion = (row: PackageRow, manifest: string): PackageVersion => ({
  group: row.group_name,
  name: row.name,
  version: row.version,
  artifactId: row.artifact_id,
  manifest: objectOf(manifest),
})

const objectOf = (json: string): Record<string, unknown> => {
  const value: unknown = JSON.parse(json)
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** Where a version or a range led. */
export const toResolution = (row: Chosen) => ({
  group: row.group_name,
  name: row.name,
  version: row.version,
  artifactId: row.artifact_id,
  sha256: row.sha256,
  size: String(row.size),
  publishedAt: row.published_at,
  stagedAt: row.promoted_at,
  // In the order of the bytes, which the database may not know.
  stages: row.stages?.split(',').sort() ?? [],
})
