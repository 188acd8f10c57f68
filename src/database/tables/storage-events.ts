/**
 * What operators should know of the storage of a repository. Sequences of one repository grow in the order of commits.
 */
export interface StorageEventsTable {
  repository: string
  sequence: number
  occurred_at: string
  level: 'info' | 'warning' | 'error'
  code: string
  /** JSON object of strings and integers. */
  details: string
}
