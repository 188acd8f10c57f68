/**
 * What kind of thing holds bytes. Its id is that of its claim. Whatever floor looks at claims passes the kind on; what
 * it means that a holder is gone for good, says `features/lifecycle/deletion/giving-up.ts`.
 */
export type HolderKind = 'artifact' | 'lfs-object' | 'npm-cached' | 'npm-version' | 'oci-blob'

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
  holder: HolderKind
  /** Known from the start where the client declares it, otherwise set before the bytes get their final name. */
  sha256: string | null
  size: number
  /**
   * What the holder has in the database beside its bytes, such as what is said of a version: it counts as well, so that
   * nobody fills a disk by saying much of little.
   */
  beside: number
  state: 'pending' | 'live' | 'retired'
  retired_at: string | null
}
