/** A stage that a published file has. */
export interface ArtifactStagesTable {
  artifact_id: string
  stage: string
  /** The artifact's. */
  repository: string
  promoted_at: string
  actor: string
  comment: string | null
}
