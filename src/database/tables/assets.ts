import type { Generated } from 'kysely'

/** The current revision of each path that shows a file. */
export interface AssetsTable {
  repository: string
  path: string
  revision: number
  artifact_id: string
  /** The oldest revision that was not forgotten. */
  oldest: Generated<number>
}

/** Every revision that a path ever had, less those that were forgotten: the oldest ones. */
export interface AssetRevisionsTable {
  repository: string
  path: string
  revision: number
  /** What the path showed; of a revision that removed it, what it showed until then. */
  artifact_id: string
  actor: string
  created_at: string
  /** The revision that this one restored, if it did. It may be forgotten by now. */
  source_revision: number | null
  /** The path shows nothing since. */
  removed: Generated<0 | 1>
  /** What the file was said to be when the path was made to show it, as it was said. */
  media_type: Generated<string | null>
}

/** Paths that show nothing any more. They are numbered on from here when they show something again. */
export interface RemovedPathsTable {
  repository: string
  path: string
  /** The one that removed it. */
  revision: number
  /** The oldest revision that was not forgotten; one beyond the last where all were. */
  oldest: number
  removed_at: string
}
