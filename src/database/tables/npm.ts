/** npm packages by name. One whose versions are all gone stays while some of them can be brought back. */
export interface NpmPackagesTable {
  id: string
  repository: string
  name: string
  /** Counts the changes; each gives the package other documents. */
  revision: number
  created_at: string
  modified_at: string
  /** How many there are, without those that were deleted. */
  versions: number
  /** The number of the version that came last. */
  last_number: number
  /** JSON array of objects: whom clients show as owners. */
  maintainers: string
  /** JSON array of names of those who starred it. */
  stars: string
  /** JSON object: what a search shows of it; null without a version. */
  summary: string | null
  /** Folded text in which a search looks for words. */
  found_by: string
}

/** Versions, those included that were deleted and can be brought back. The id is that of the claim on the tarball. */
export interface NpmVersionsTable {
  id: string
  package_id: string
  /** Those of the package. */
  repository: string
  name: string
  version: string
  /** Counts the versions of a package in the order in which they came. */
  number: number
  /** The piece of the documents that shows it; null where it was deleted. */
  piece: number | null
  /** Of the tarball, as its size. */
  sha256: string
  size: number
  /** Hexadecimal digits. */
  sha1: string
  /** Base64. */
  sha512: string
  files: number
  unpacked_size: number
  /** JSON object, as it was published, without what the service says itself. */
  manifest: string
  readme: string | null
  /** JSON array of attestations. */
  attestations: string | null
  deprecated: string | null
  published_at: string
  actor: string
  deleted_at: string | null
}

/** Versions whose bytes are gone: their numbers are not given again. */
export interface NpmTakenVersionsTable {
  repository: string
  name: string
  version: string
  released_at: string
}

export interface NpmTagsTable {
  package_id: string
  tag: string
  version_id: string
  moved_at: string
  actor: string
}

/**
 * The two documents of a package as they are sent, without the versions, which stand in pieces: `head`, the versions,
 * `times`, those of the versions, and `tail`. Where a text has a byte of value 1, the address of the registry goes.
 */
export interface NpmDocumentsTable {
  package_id: string
  head: string
  times: string
  tail: string
  abbreviated_head: string
}

/** What some versions are in the documents: members of JSON objects, with commas between them. */
export interface NpmPiecesTable {
  package_id: string
  number: number
  versions: string
  abbreviated: string
  times: string
}

export interface NpmStagesTable {
  version_id: string
  stage: string
  /** Those of the version. */
  repository: string
  name: string
  version: string
  promoted_at: string
  actor: string
  comment: string | null
}

/**
 * From where a version was promoted. It tells that somebody was told, and finds what was moved. A row goes with the
 * copy, or with the repository of the source.
 */
export interface NpmPromotionsTable {
  copy_id: string
  source_repository: string
  /** `move` from the time that the source was moved to it. */
  mode: 'copy' | 'move'
  /** When it was last promoted from there. */
  promoted_at: string
}
