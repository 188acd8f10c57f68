/**
 * What a repository keeps of its package versions, and when the rest is deleted. Its quota stands in `repositories`.
 */
export interface StoragePoliciesTable {
  repository: string
  revision: number
  enabled: 0 | 1
  grouping: 'package-channel' | 'package' | 'repository'
  keep_last: number
  /** JSON array of `{label, keepLast}`. */
  channels: string
  /** JSON array of strings. */
  protected_labels: string
  min_age_hours: number
  interval_minutes: number
  /** The service key that enabled it, on whose authority the schedule deletes; null while disabled. */
  key_id: string | null
  /** When the schedule runs next; null while it does not. */
  next_run_at: string | null
  last_run_at: string | null
  /** Files, images and npm versions that the last run deleted. */
  last_deleted: number
  last_deleted_images: number
  last_deleted_npm_versions: number
  last_error: string | null
}
