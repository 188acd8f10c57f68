/** A system that calls us: what its keys may do at most. */
export interface ServiceAccountsTable {
  id: string
  name: string
  name_key: string
  enabled: 0 | 1
  /** Counts changes of policy and flag, for compare-and-swap. */
  revision: number
  /** The policy: JSON array of bindings. */
  bindings: string
  created_at: string
}

export interface ServiceKeysTable {
  id: string
  account_id: string
  name: string
  state: 'pending' | 'active' | 'revoked'
  /** SHA-256 of the whole secret. The secret itself is stored nowhere. */
  secret_sha256: string
  /** JSON array of bindings. */
  bindings: string
  created_at: string
  expires_at: string
  activation_expires_at: string
  /** The key that this one was rotated from. */
  rotated_from: string | null
  /** Set when a key that was rotated from this one became active: from then on it does not count as active. */
  superseded_at: string | null
  /** Who asked for it, under which Idempotency-Key, and the digest of what was asked. */
  requested_by: string
  idempotency_key: string
  request_sha256: string
}

/** What an operator key may do with a service account. */
export interface DelegationsTable {
  operator_key_id: string
  account_id: string
  /** JSON array of administration actions. */
  actions: string
  /** JSON array of bindings: what the operator may hand out at most. */
  ceiling: string
}
