/** One row. Its lock is the gate between reclaim and those who hold it back. */
export interface InstallationTable {
  id: number
  /** Names this database among others, so that its exports can be told from theirs. Random. */
  identity: string
  /** Digest of the manifest of the export that is being imported. While it stands, no service runs on the database. */
  importing: string | null
  /** The blobs up to this digest are in the store, verified. */
  imported_through: string
  /** Files of rows that are in the tables, counted in the order of the manifest. */
  imported_pieces: number
}

/** While a row here has not lapsed, reclaim marks no further bytes. */
export interface ReclaimHoldsTable {
  id: string
  /** In words, for whoever looks. */
  purpose: string
  /** Without a renewal until then it counts no more. */
  ends_at: string
}
