/** What was said of a file after its upload. A file without a row was never annotated anew: its descriptor speaks. */
export interface AnnotationsTable {
  /** A published file, or a deleted one while it can be brought back. */
  artifact_id: string
  /** How often they were replaced, from 1. */
  revision: number
  /** JSON array of strings. */
  labels: string
  /** JSON object of strings. */
  metadata: string
  /** JSON array of strings. */
  collections: string
}

/** What was said of it, revision by revision, as far back as it is kept. */
export interface AnnotationRevisionsTable extends AnnotationsTable {
  actor: string
  created_at: string
}
