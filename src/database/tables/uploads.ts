/**
 * Bytes on their way in. A session is seen by its creator; a raw transfer lives as long as its request. What is
 * appended to by a protocol of others has its claim from the first byte on, and no row any more once it is published.
 */
export interface UploadsTable {
  id: string
  repository: string
  kind: 'session' | 'raw' | 'appended'
  /** Actor that started it; only the same actor sees it. */
  owner: string
  idempotency_key: string | null
  name: string
  /** Declared size; null while a raw body comes without a length. */
  size: number | null
  /** Declared digest; null for a raw body without checksum. */
  sha256: string | null
  /** JSON array of strings. */
  labels: string
  /** JSON object of strings. */
  metadata: string
  status: 'pending' | 'available' | 'cancelled'
  created_at: string
  expires_at: string
  /** When it left `pending`. */
  ended_at: string | null
  /** One request at a time: its id, and until when it may be silent before another takes over. */
  turn_holder: string | null
  turn_until: string | null
}
