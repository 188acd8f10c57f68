/** How far a consumer inside the service (a webhook, say) has come in a journal. Lines beyond it are kept for it. */
export interface JournalCursorsTable {
  repository: string
  /** The consumer's name, unique in the repository, such as `webhook:builds`. */
  name: string
  /** The last sequence that it is done with. */
  sequence: number
  moved_at: string
}
