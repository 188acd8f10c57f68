/**
 * Every list of attachments that a build ever had; the newest is the current one. Goes with the last trace of the
 * build.
 */
export interface AttachmentRevisionsTable {
  /** The build. It may be deleted: then its attachments wait to come back with it. */
  artifact_id: string
  revision: number
  actor: string
  created_at: string
}

/** What is in these lists. */
export interface AttachmentsTable {
  artifact_id: string
  revision: number
  position: number
  name: string
  kind: AttachmentKind
  /** The file that is attached. It stays while the build does, whether it is still attached or not. */
  target_id: string
  description: string
}

export type AttachmentKind = 'manifest' | 'sbom' | 'signature' | 'report' | 'file'
