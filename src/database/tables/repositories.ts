import type { UsageState } from '../../kernel/usage-state.ts'

/** A repository and its counters. The row lock of this row orders the repository's journal. */
export interface RepositoriesTable {
  id: string
  created_at: string
  /**
   * Set when the repository was deleted: the row stays so that no sequence of its journals comes again if the id
   * returns.
   */
  deleted_at: string | null
  /** Which of the repositories that had this id it is, from 1. */
  incarnation: number
  /** The last sequence of the journal. */
  journal_head: number
  /** Lines up to here are of repositories that had the id before. */
  journal_base: number
  /** Sums over `claims` by state; exact at all times because claims move them in the same transaction. */
  published_bytes: number
  pending_bytes: number
  retired_bytes: number
  /** What may be reserved in all, or null. */
  quota_bytes: number | null
  /** How long what is deleted can be brought back, or null for the server's setting. */
  grace_hours: number | null
  /** Counts the changes of `grace_hours`. */
  cleanup_revision: number
  /** Shares of the quota from which usage is called `warning` and `critical`. */
  warning_percent: number
  critical_percent: number
  /** What usage was called when the storage events last told of it. */
  told_usage: UsageState
  /** The last sequence of the storage events. */
  storage_event_head: number
  /** Events up to here are of repositories that had the id before. */
  storage_event_base: number
}
