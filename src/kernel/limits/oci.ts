import { day, hour, KiB, MiB } from '../units.ts'

/** Bounds of container images. */

/** Name of an image with its repository. Clients take as many together with the host. */
export const imageNameMaxCharacters = 255
/** A manifest; clients that pull take hardly more. */
export const manifestBytesMax = 4 * MiB
/** What one manifest may name: images have up to some hundred layers, and indexes fewer platforms. */
export const manifestReferencesMax = 2_000
/**
 * What a manifest may be made of: an index of 2,000 platforms, with three annotations each, has 60,000 brackets, commas
 * and colons. As many of the worst take 50 ms.
 */
export const manifestPiecesMax = { count: 100_000, depth: 100 } as const
/** Names that are not here, told one by one: a page of words. */
export const missingToldMax = 100
/** Tags that one push may set beside the manifest. */
export const tagsPerPushMax = 100
/** Characters of a media type, beyond all that are registered. */
export const ociMediaTypeMaxCharacters = 255

/** Manifests and configs beyond this are not looked into: a config has some kilobytes, a hostile MiB takes 40 ms. */
export const openedBytesMax = MiB
/** What they may be made of to be looked into: a config of a thousand steps has some ten thousand pieces. */
export const openedPiecesMax = { count: 50_000, depth: 100 } as const
/** Platforms that are told of one manifest, and characters of a part of their names: the longest known has eleven. */
export const platformsMax = 64
export const platformPartMaxCharacters = 64

/** Tags, and names of images, in one answer: 1.3 MB at most of the longest. */
export const tagsPageMax = 10_000
export const tagsPageDefault = 1_000
/** Tags and images that one page looks through for a part of a name: so many at once (some 3 ms), so many times. */
export const imageNamesAtOnce = 4_096
export const imageNamesRounds = 8
/** Tags that an opened manifest shows of those that lead to it. */
export const tagsOfManifestMax = 100
/** Manifests and configs that one process looks into at once: each takes up to two of the largest in memory. */
export const openedAtOnce = 8
/** Referrers in one answer, and bytes of their manifests, whose annotations are in it. */
export const referrersPageMax = 100
export const referrersPageBytes = 4 * MiB
/** The same where annotations are taken apart and checked, at a microsecond for four bytes of the shortest. */
export const referrersOpenedBytes = 256 * KiB
/** Images that one token is asked for: a push that mounts from several names each of them. */
export const tokenScopesMax = 64
/** Kinds of referrers that one request may ask for. */
export const artifactTypesMax = 16
/** Repositories with a blob that are looked at for one that it may be mounted from. */
export const mountSourcesMax = 64
/** Repositories whose images are listed together. */
export const catalogRepositoriesPage = 100

/** A blob that no manifest names is held so long after its last byte: a push names it within minutes. */
export const unnamedBlobMs = hour
/**
 * A manifest that nothing keeps is held at least so long after somebody counted on it last, however short the grace
 * period: what lists it follows within minutes.
 */
export const unkeptManifestMs = hour
/** An upload of a blob that nothing was sent to, and one that was: clients that go on do so at once. */
export const emptyBlobUploadMs = hour
export const blobUploadMs = day
/**
 * Uploads of blobs that one caller may have open: a machine that builds begins dozens, and clients leave some behind.
 */
export const blobUploadsPerCallerMax = 1_000
/** Patterns of tags that stay where they are in a repository, and the characters of one: a tag has as many. */
export const immutableTagsMax = 32
export const tagPatternMaxCharacters = 128
/**
 * What one promotion takes along: indexes have some ten platforms, each with a signature or two, and some ten layers.
 * The locks of both repositories are held for some two seconds at most.
 */
export const promotedManifestsMax = 500
export const promotedBlobsMax = 5_000
/** Of all its manifests, also to layers that lie elsewhere or that the target has: each is a row. */
export const promotedReferencesMax = 10_000
/** Manifests that one statement asks about. */
export const manifestsAtOnce = 100
/** Tags of a page of manifests that are looked at together; of more, those of each by themselves. */
export const tagsLookedAt = 1_000
/** Tags that a storage policy takes away in one transaction, of up to as many images: a second at most. */
export const tagsPerRemoval = 500
/**
 * Tags that are called after one manifest and that one transaction takes away with it: mostly a signature, an
 * attestation, a bill of materials and a list of referrers.
 */
export const tagsCalledAfterAtOnce = 100
/** Moves of a tag that are remembered. */
export const tagMovesMax = 100
