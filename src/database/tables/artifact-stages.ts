/** The stages that a published file has reached. */
export interface ArtifactStagesTable {
  repository: string
  artifact_id: string
  stage: string
  promoted_at: string
  actor: string
  comment: string | null
}
