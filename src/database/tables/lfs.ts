/** Objects of Git LFS, held once in a repository, whatever address behind it they were pushed to. */
export interface LfsObjectsTable {
  /** That of the claim. */
  id: string
  repository: string
  /** What clients call it. */
  sha256: string
  size: number
  pushed_at: string
  /** Who pushed it first. */
  actor: string
  /** When somebody last asked for it or had it to push, to the hour or so. */
  used_at: string
  /** When it was deleted; it can be brought back as long as the row is there. Null while it is there for clients. */
  deleted_at: string | null
}

/** A file of a Git repository that somebody works on alone. */
export interface LfsLocksTable {
  id: string
  repository: string
  /** What stands behind the repository in the address of the Git repository; '' for nothing. */
  sub_path: string
  /** The file, as Git calls it. */
  path: string
  /** A digest of both of them, which an index can hold. */
  digest: string
  locked_at: string
  actor: string
}

/** What a repository says of Git LFS, where somebody did. */
export interface LfsSettingsTable {
  repository: string
  /** Counts how often it was saved. */
  revision: number
  /** 1 where files can be locked. */
  locking: 0 | 1
  saved_at: string
  actor: string
}
