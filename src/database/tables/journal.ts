import type { JournalAction } from '../../kernel/journal-actions.ts'

/**
 * Append-only; what is old is forgotten from the beginning (journal/retention.ts). Sequences of one repository have no
 * gaps and grow in the order of commits.
 */
export interface JournalTable {
  repository: string
  sequence: number
  action: JournalAction
  artifact_id: string
  /** A file path, a stage or an image, for actions that have one. */
  detail: string | null
  actor: string
  occurred_at: string
  /** How a file or an image was promoted. */
  mode: 'copy' | 'move' | null
  /** The other end of a promotion: where it went to, or came from. */
  peer_repository: string | null
  peer_artifact_id: string | null
  /** Its name, where it is an image. */
  peer_image: string | null
  /** What the actor said about a stage or promotion. */
  comment: string | null
}
