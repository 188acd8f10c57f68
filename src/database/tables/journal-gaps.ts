/**
 * Sequences that were never given in this history of a journal: a restore began beyond all that may have been told of
 * the history that it took the place of. So none of them comes again and means something else.
 */
export interface JournalGapsTable {
  repository: string
  /** The last sequence before it. */
  beyond: number
  /** The last sequence in it; the next line has the one behind. */
  through: number
}
