/** A published file. Its id is that of the upload it came by; its claim has the same id. */
export interface ArtifactsTable {
  id: string
  repository: string
  name: string
  size: number
  sha256: string
  /** JSON array of strings, as uploaded. */
  labels: string
  /** JSON object of strings, as uploaded. */
  metadata: string
  created_at: string
  expires_at: string
  published_at: string
}

/** A file that was deleted. Until its claim is released it can be brought back; after that the row only tells of it. */
export interface DeletedArtifactsTable extends ArtifactsTable {
  deleted_at: string
  /** When its bytes stopped being reserved. */
  released_at: string | null
}
