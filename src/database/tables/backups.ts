/** When points are taken and how many are kept. One row; none as long as nobody has changed it. */
export interface BackupPlanTable {
  id: 1
  revision: number
  enabled: 0 | 1
  hour: number
  minute: number
  /** IANA name of the zone by which it goes. */
  timezone: string
  daily: number
  weekly: number
  monthly: number
  /** Runs count from here: when it was last changed, or the schedule last asked for a run. */
  counted_from: string
}

/** A point in a vault, as its manifest says, and what was made of it since. */
export interface BackupPointsTable {
  id: string
  /** What the vault is called in which it lies. */
  vault_id: string
  snapshot_at: string
  completed_at: string
  blobs: number
  content_bytes: number
  new_bytes: number
  table_count: number
  row_count: number
  pinned: 0 | 1
  verified_at: string | null
  verify_depth: 'structural' | 'deep' | null
  verify_error: string | null
  /** When somebody gave it up. The agent takes it out of the vault; the row keeps it from coming back. */
  forgotten_at: string | null
  /** Since when it is known here, where it was not taken here: what was looked at before says nothing of it. */
  found_at: string | null
  /** Since when its manifest is not there any more. */
  missing_since: string | null
}

/** Work of the backup agent, to be done and done. */
export interface BackupJobsTable {
  id: string
  kind: 'capture' | 'verify' | 'retention'
  state: 'queued' | 'running' | 'committing' | 'completed' | 'failed' | 'interrupted'
  phase: string | null
  requested_at: string
  started_at: string | null
  finished_at: string | null
  error_code: string | null
  /** The point that it took, or is about; it may be forgotten by now. */
  point_id: string | null
  bytes_copied: number
  bytes_total: number
  blobs_copied: number
  blobs_total: number
  /** Actor that asked for it, and its Idempotency-Key; null where the plan did. */
  requested_by: string | null
  idempotency_key: string | null
}

/** The agent that does the work, and how it found the vault. One row, once there was one. */
export interface BackupAgentsTable {
  id: 1
  /** Which process it is; another may take its place once the lease is over. */
  holder: string
  lease_until: string
  last_seen_at: string
  version: string
  /** Null as long as the vault was never written to. */
  vault_id: string | null
  vault_available: 0 | 1
  encrypted: 0 | 1
  free_bytes: number | null
  total_bytes: number | null
}

/** When each share of a vault was last read to its end: the moment at which that was begun. */
export interface BackupSharesTable {
  vault_id: string
  share: number
  read_at: string
}

/** Files of a vault that are not what they were, though they have their length: they are written anew elsewhere. */
export interface BackupDamageTable {
  vault_id: string
  name: string
  found_at: string
}

/** Restores that were tried in a scratch place. */
export interface BackupRehearsalsTable {
  id: string
  vault_id: string
  point_id: string
  snapshot_at: string
  begun_at: string
  /** Null while it is under way, and for ever where its process died. */
  ended_at: string | null
  /** Null where everything was as the point says. */
  error_code: string | null
  row_count: number
  blobs: number
  /** Answers of the restored service that were looked at. */
  answers: number
}

/** Files of the store that were brought back from a vault. */
export interface HealedBlobsTable {
  sha256: string
  healed_at: string
  /** What was wrong with it. */
  finding: string
}

/** Repositories that were brought back from a point beside the others, under an id of their own. */
export interface RestoredRepositoriesTable {
  repository: string
  /** What it was called at the moment of the point. */
  source: string
  point_id: string
  begun_at: string
  finished_at: string | null
}
