/**
 * What search knows of a published file; it goes with the row of the file. Its tokens stand beside it in a form that
 * each engine has for itself: an array column with an inverted index on PostgreSQL, the row of the full-text table
 * `search_index` on SQLite.
 */
export interface SearchEntriesTable {
  artifact_id: string
  repository: string
  /**
   * The place of the id among all, as a number: the row id of its tokens on SQLite. Two processes may make the same.
   */
  position: number
  /** Name and metadata values as they are now, folded, one a line. */
  text: string
  /** The paths that show it now, folded, one a line; null where they are too many for the index. */
  paths: string | null
}
