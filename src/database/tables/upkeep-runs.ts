/**
 * A part of the upkeep that went well, in whichever process: the age of its last good run is what an alert looks at.
 */
export interface UpkeepRunsTable {
  name: string
  succeeded_at: string
}
