/**
 * Which file of a repository is the copy of which file of another. A source may have several copies in one repository:
 * those that were deleted and can come back are copies still. A row goes with the last trace of its copy, not with that
 * of its source.
 */
export interface PromotionsTable {
  source_id: string
  source_repository: string
  /** The repository of the copy. */
  target: string
  /** A published file, or a deleted one as long as that is known. */
  copy_id: string
  /** `move` from the time that the source was moved to it. */
  mode: 'copy' | 'move'
  /** When it was last promoted to this copy. */
  promoted_at: string
  /**
   * The revisions of the annotations of both ends when they last said the same; null where they never did, or where it
   * is not known. Whoever has another one now was annotated since.
   */
  source_revision: number | null
  copy_revision: number | null
}
