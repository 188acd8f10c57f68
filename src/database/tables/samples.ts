/** How full a repository was. An hour in which nothing changed has no row: the one before holds on. */
export interface UsageSamplesTable {
  repository: string
  /** The beginning of the hour in which it was looked. */
  taken_at: string
  published_bytes: number
  pending_bytes: number
  retired_bytes: number
  quota_bytes: number | null
}

/** What the service held and had to do. */
export interface ServiceSamplesTable {
  /** The beginning of the ten minutes in which it was looked. */
  taken_at: string
  published_bytes: number
  reserved_bytes: number
  /** Upload sessions that were open. */
  open_sessions: number
  /** Jobs that waited or ran. */
  open_jobs: number
}
