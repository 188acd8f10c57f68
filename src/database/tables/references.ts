/** A mark by which somebody keeps a file. It is its owner's alone; the same key of two owners is two rows. */
export interface ArtifactReferencesTable {
  artifact_id: string
  /** The actor that set it. */
  owner: string
  key: string
  created_at: string
}
