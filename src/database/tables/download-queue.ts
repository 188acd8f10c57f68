/** One row. */
export interface DownloadQueueTable {
  id: number
  /** By which queue tickets are signed: worth a place in one's own line and no more. */
  ticket_secret: string
}

/** A gateway that gives out a part of the shared download slots. */
export interface DownloadGatewaysTable {
  id: string
  /** Slots that it may give out; the sum over all rows is never more than there are. */
  slots: number
  /** Of these, taken. */
  held: number
  /** Taken and waited for. */
  wanted: number
  /** Without a sign of life until then its slots are free for others. */
  ends_at: string
}
