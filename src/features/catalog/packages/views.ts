import type { PackageRow, Shown } from './listing.queries.ts'
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

export interface ListedVersion extends PackageVersion {
  readonly size: string
  readonly publishedAt: string
  readonly stages: string[]
}

/** The same in a list, with what one chooses by. */
export const toListedVersion = (row: PackageRow, { manifest, size, stages }: Shown): ListedVersion => ({
  ...toPackageVersion(row, manifest),
  size: String(size),
  publishedAt: row.published_at,
  stages: stagesIn(stages),
})

/** In the order of the bytes, which the database may not know. */
const stagesIn = (names: string | null): string[] => names?.split(',').sort() ?? []

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
  stages: stagesIn(row.stages),
})
