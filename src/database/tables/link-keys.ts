/**
 * The public half of a key that signs download links and passes. The private half is in the memory of one process and
 * nowhere else.
 */
export interface LinkKeysTable {
  id: string
  /** Ed25519, 32 bytes in base64url. */
  public_key: string
  created_at: string
  /** Everything that it signed has ended by then. */
  ends_at: string
}
