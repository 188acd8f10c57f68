/**
 * Who holds which bytes in a repository, whatever the format. Counters, quota, reclaim and doctor read only this.
 *
 * `pending` reserves size for bytes that are not published; `live` holds a published blob; `retired` is deleted or
 * cancelled and still counts until the grace period ends.
 */
export interface ClaimsTable {
  /** The id of the holder. */
  id: string
  repository: string
  holder: 'artifact'
  /** Known from the start where the client declares it, otherwise set before the bytes get their final name. */
  sha256: string | null
  size: number
  state: 'pending' | 'live' | 'retired'
  retired_at: string | null
}
