/** What was done to accounts, groups, grants and repositories, and by whom. */
export interface SecurityAuditTable {
  sequence: number
  occurred_at: string
  actor: string
  action: string
  subject: string
  client_address: string
  /** The service account that the row belongs to, whose history is read by itself. */
  service_account_id: string | null
  /** What the first of the subject was called then, where its name goes with it: a group. */
  subject_name: string | null
}
