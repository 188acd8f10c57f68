/** A person who signs in with name and password. */
export interface AccountsTable {
  id: string
  name: string
  /** The name in lower case: names are unique without regard to case. */
  name_key: string
  administrator: 0 | 1
  enabled: 0 | 1
  /** argon2id in PHC string format. */
  password_hash: string
  created_at: string
}

export interface SessionsTable {
  id: string
  account_id: string
  /** SHA-256 of the whole token. The token itself is stored nowhere. */
  secret_sha256: string
  created_at: string
  expires_at: string
  /**
   * Of a session that somebody opened in a browser for another program, which gets a token for it: the digest of what
   * that program shows.
   */
  opened_for: string | null
}
