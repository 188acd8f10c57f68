/** The package version that a published file is. Names compare without case: their keys are in lower case. */
export interface PackagesTable {
  artifact_id: string
  repository: string
  /** Empty for the root group. */
  group_name: string
  group_key: string
  name: string
  name_key: string
  /** As it was written, build metadata included. */
  version: string
  /** Sorts by the precedence of SemVer; see `version-order.ts` of the packages. */
  version_key: string
  /** Whether the version is a pre-release, which its key says as well: indexes lead with it. */
  prerelease: 0 | 1
  registered_at: string
  /** The file's: what is newest is found by it. */
  published_at: string
  manifest_bytes: number
  /** JSON object. Last, because it may be long. */
  manifest: string
}

/** What deleted files were, until they can no longer be brought back. Their versions are free for others meanwhile. */
export interface FreedPackagesTable extends PackagesTable {}

/** Package versions by stage, derived from `artifact_stages`: so that resolving by a stage is a look into an index. */
export interface PackageStagesTable {
  artifact_id: string
  stage: string
  repository: string
  group_key: string
  name_key: string
  prerelease: 0 | 1
  version_key: string
  promoted_at: string
}
