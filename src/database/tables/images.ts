/** Names below which images lie in a repository: those that have a manifest. */
export interface OciImagesTable {
  repository: string
  /** What stands behind the repository in the name that clients use. */
  name: string
  created_at: string
  /** How many there are. */
  tags: number
  manifests: number
  /** When a manifest came last. */
  pushed_at: string
}

/** Bytes that images consist of, manifests included: held once in a repository, whatever names they lie below. */
export interface OciBlobsTable {
  /** That of the claim. */
  id: string
  repository: string
  sha256: string
  /** Known where somebody called the bytes by it. */
  sha512: string | null
  size: number
  created_at: string
  /** Since when no manifest names it and it is none; null while one does. */
  unused_since: string | null
  /** The name below which somebody sent or mounted it last; null where that is not known. */
  sent_below: string | null
  /** When it came, or somebody last sent or mounted it while no manifest named it, or the last one that did went. */
  counted_on_at: string
}

/** A manifest below a name; its bytes are a blob. */
export interface OciManifestsTable {
  id: string
  repository: string
  name: string
  /** `sha256:…` */
  digest: string
  /** `sha512:…`; null only of one that came before this was known of all, and by no one who called it so. */
  digest512: string | null
  blob_id: string
  media_type: string
  /** What it is an artifact of, as lists of referrers show it. */
  artifact_type: string | null
  /** The digest of what it refers to, which need not be there. */
  subject: string | null
  /** JSON object of strings; only of what has a subject. */
  annotations: string | null
  /** Of config and layers, each once; of an index, of all that it lists. */
  content_bytes: number
  /** JSON array of what it is for, such as `linux/amd64`; null where nothing is known. */
  platforms: string | null
  pushed_at: string
  actor: string
  /**
   * Since when nothing keeps it: no tag, no stage, no index that lists it, no subject that is there. Null while
   * something does.
   */
  unused_since: string | null
  /**
   * Until when at least something kept it or somebody counted on it, as far as is known: when it was pushed or promoted
   * last, when a tag, a stage or an index came or went. Whatever keeps it goes, it is unused from then on at the
   * earliest.
   */
  counted_on_at: string
  /**
   * When the newest of its tags came to it, while it counts as an image by itself: no index lists it, what it refers to
   * is not there, and the tag is not called after what it belongs to. Null otherwise.
   */
  tagged_at: string | null
}

/** What a manifest names, each once. */
export interface OciReferencesTable {
  manifest_id: string
  position: number
  /** Those of the manifest. */
  repository: string
  name: string
  role: 'config' | 'layer' | 'manifest'
  digest: string
  /** Null for manifests, which stand on their own, and for layers that lie elsewhere. */
  blob_id: string | null
}

export interface OciTagsTable {
  repository: string
  name: string
  tag: string
  manifest_id: string
  /** By which of its digests the manifest is called where the tag is asked for. */
  algorithm: 'sha256' | 'sha512'
  moved_at: string
  actor: string
}

/** Every move of a tag, for as long as the manifest is kept that it was moved to, or was removed from. */
export interface OciTagMovesTable {
  repository: string
  name: string
  tag: string
  revision: number
  manifest_id: string
  /** 1 where the tag was taken away from the manifest. */
  removed: 0 | 1
  moved_at: string
  actor: string
}

/** A stage that a manifest has. */
export interface OciStagesTable {
  manifest_id: string
  stage: string
  /** Those of the manifest; its digest is the SHA-256. */
  repository: string
  name: string
  digest: string
  promoted_at: string
  actor: string
  comment: string | null
}

/**
 * From where a manifest was promoted. What is the copy of what, their digest says; this tells that somebody was told,
 * and finds what was moved by a tag that is gone since. A row goes with the copy, or with the repository of the source.
 */
export interface OciPromotionsTable {
  copy_id: string
  source_repository: string
  source_name: string
  /** The tag by which it was moved last; null where it was copied, or moved by its digest. */
  moved_tag: string | null
  /** `move` from the time that the source was moved to it. */
  mode: 'copy' | 'move'
  /** When it was last promoted from there. */
  promoted_at: string
}

/** Tags that stay where they are, once they are there. */
export interface OciImmutableTagsTable {
  repository: string
  /** Counts how often the list was saved. */
  revision: number
  /** JSON array of patterns of tags. */
  patterns: string
  saved_at: string
  actor: string
}
