/**
 * Bytes in the store that no row knows. They are kept until a person says otherwise: they may be younger than a
 * database that was put back, or another's.
 */
export interface QuarantineTable {
  /** What the store calls them. */
  name: string
  size: number
  seen_at: string
}
