/** Where the parts of an upload lie until it is published or cancelled; and the segments of one that is appended to. */
export interface AssembliesTable {
  /** The claim that its bytes are reserved by: the id of the upload. */
  claim_id: string
  /** What the blob store calls it. */
  place: string
  /** Bytes of all parts that are stored. */
  stored_bytes: number
  /** Parts from the beginning that `hash_state` has seen; where bytes are appended it has seen all that is stored. */
  hashed_parts: number
  /** Where the running hash stands, for stores whose parts cannot be read back; else null. */
  hash_state: string | null
  /** 1 once all parts together were seen to have the digest of their upload. */
  verified: number
}

/**
 * A part that is stored: its bytes survive a power cut (I1). It never changes, but for the last segment of an upload
 * that is appended to, in whose place a longer one comes.
 */
export interface AssemblyPartsTable {
  claim_id: string
  part_index: number
  /** Empty for a segment: no client knows them. */
  sha256: string
  /** What the store wants to hear when the part is read or published. */
  receipt: string
}
