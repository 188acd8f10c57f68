/** The current revision of each path. */
export interface AssetsTable {
  repository: string
  path: string
  revision: number
  artifact_id: string
}

/** Every revision that a path ever had. */
export interface AssetRevisionsTable {
  repository: string
  path: string
  revision: number
  artifact_id: string
  actor: string
  created_at: string
  /** The revision that this one restored, if it did. */
  source_revision: number | null
}
