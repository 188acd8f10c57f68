/** Every list of attachments that a build ever had; the newest is the current one. Goes with the last trace of the build. */
export interface AttachmentRevisionsTable {
  /** The build. It may be deleted: then its attachments wait to come back with it. */
  artifact_id: string
  revision: number
  /** JSON array of {name, kind, artifactId, description}. */
  items: string
  actor: string
  created_at: string
}

/** Every file that was ever attached to a build, once: what `attachment_revisions` says, found from the other side. */
export interface AttachmentTargetsTable {
  target_id: string
  artifact_id: string
}
