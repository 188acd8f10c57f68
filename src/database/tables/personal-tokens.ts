/** A credential for one person's scripts. */
export interface PersonalTokensTable {
  id: string
  account_id: string
  name: string
  /** The first characters of the secret, so that its owner can tell tokens apart. */
  prefix: string
  /** SHA-256 of the whole token. The token itself is stored nowhere. */
  secret_sha256: string
  scope: 'read' | 'read-write'
  created_at: string
  expires_at: string
  /** Not exact: moved at most once in a while, not by every request. */
  last_used_at: string | null
  /** A client got it for a sign-in, and gives it back when it signs out. */
  by_sign_in: 0 | 1
  revoked_at: string | null
}
