/**
 * The registry to which a repository of npm packages looks through. The row stays when there is none any more, so that
 * its revisions go on.
 */
export interface NpmUpstreamsTable {
  repository: string
  revision: number
  /** Without a slash at its end; null where there is none. */
  url: string | null
  /** JSON array of patterns of names that are never asked for outside. */
  reserved: string
  /** How long a document is taken for the newest. */
  fresh_seconds: number
  saved_at: string
  actor: string
}

/** Packages of upstreams, with what is known of their documents. */
export interface NpmCachedPackagesTable {
  id: string
  repository: string
  name: string
  /** The upstream that the document is of. */
  url: string
  /** That the upstream gave it; null where it gave none. */
  etag: string | null
  /** Of the document as it came; null where it is to be fetched anew, whatever the upstream says of its ETag. */
  sha256: string | null
  /** Counts the documents. */
  revision: number
  /** When this document came, and when the upstream last said that it is the newest. */
  fetched_at: string
  checked_at: string
  /** Versions that it tells of, and those of the upstream that it leaves out since they cannot be taken. */
  versions: number
  left_out: number
  /** JSON object: versions by tag. */
  tags: string
  /** What the pieces of the document take; 0 where it is not kept. */
  bytes: number
  /** Why the upstream was last asked in vain, and when; null once it answered. */
  failure: string | null
  failed_at: string | null
}

/**
 * A document of an upstream, compressed and in pieces, in each of the forms in which it is sent (`full`,
 * `abbreviated`): where the text has a byte of value 1, the address of the registry goes. `dists` has a line for each
 * version, with where its tarball is and what it must be.
 */
export interface NpmCachedPiecesTable {
  package_id: string
  part: 'full' | 'abbreviated' | 'dists'
  number: number
  bytes: Uint8Array
}

/** Tarballs of upstreams that are kept. The id is that of the claim on the bytes. */
export interface NpmCachedVersionsTable {
  id: string
  package_id: string
  /** Those of the package. */
  repository: string
  name: string
  version: string
  sha256: string
  size: number
  /** Hexadecimal digits. */
  sha1: string
  /** Base64. */
  sha512: string
  fetched_at: string
  /** Who asked for it first. */
  actor: string
}

/** What some process fetches from an upstream at this moment: others wait for it. */
export interface NpmFetchesTable {
  repository: string
  name: string
  /** Empty for the document of the package. */
  version: string
  holder: string
  leased_until: string
}
