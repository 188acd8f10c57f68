import { GiB, hour, KiB, MiB, minute, second } from '../units.ts'

/** Bounds of what is fetched from the registries that repositories of npm packages look through to. */

export const npmUpstreamUrlMaxCharacters = 2_048
/** Names that are never asked for outside: a repository has some scopes of its own. */
export const npmReservedMax = 64
/** How long a document is taken for the newest without asking; the registry of npm has five minutes. */
export const npmUpstreamFreshSecondsDefault = 300
export const npmUpstreamFreshSecondsMax = (24 * hour) / second
/** Until the head of an answer is there, unless the setting says otherwise. */
export const npmUpstreamAnswerSecondsDefault = 15
export const npmUpstreamAnswerSecondsMax = 300
/** Redirects: registries that keep tarballs in an object store send there. */
export const npmUpstreamRedirectsMax = 5
/** An upstream that failed is left alone for so long, where something is there that can be sent instead. */
export const npmUpstreamPauseMs = 10 * second
/** A version that a document does not tell of is asked for once more, where the document is older than this. */
export const npmUpstreamLookAgainMs = 10 * second

/**
 * A document of a package as it comes. Those of packages with thousands of versions have some ten MiB, and are taken in
 * a version at a time.
 */
export const npmUpstreamDocumentMaxBytes = 64 * MiB
/** What is kept of one, compressed: a tenth of what came. */
export const npmCachedDocumentMaxBytes = 16 * MiB
/** Text of documents that is compressed together: some 30 KiB are left of it. */
export const npmCachedPieceCharacters = 256 * KiB
/** Pieces of a document that one statement reads: some 2 MiB. */
export const npmCachedPiecesAtOnce = 64
/**
 * Documents that a repository keeps, compressed: those of some ten thousand packages. Beyond it those go that were not
 * asked for the longest; tarballs stay.
 */
export const npmCachedDocumentsMaxBytes = 512 * MiB
/** Documents that one new document puts out of its repository at most: many small ones for a large one. */
export const npmCachedDocumentsPutOutMax = 2_000
/** A tarball from outside, whatever SVC_MAX_OBJECT_BYTES allows: the largest that are known have some hundred MiB. */
export const npmUpstreamTarballMaxBytes = GiB

/**
 * What one process fetches at once from the host of an upstream: together no more than the door outwards lets through
 * to it (`outboundAtOncePerOriginMax`), so that no document waits for tarballs there, as if its host were slow. A
 * document that is taken apart as it comes takes some MiB.
 */
export const npmUpstreamDocumentsAtOnce = 8
export const npmUpstreamTarballsAtOnce = 8
/** Who waited for longer is asked anew whether they may. */
export const npmUpstreamAdmittedMs = second / 4
/** Those that wait for one of these places; an installation asks for some thousand packages. */
export const npmUpstreamWaitingMax = 4_000

/** Who fetches something has it for so long, and says so again after a third of it. */
export const npmFetchLeaseMs = 30 * second
/** A lease that ends later than this was taken by a clock that went wrong, and holds nothing. */
export const npmFetchLeaseMaxMs = 2 * npmFetchLeaseMs
/** Registries that a question went through before: each knows itself by its own name among them. */
export const npmUpstreamChainMax = 8
/** How long the question of another registry waits for what is being fetched: it may be waited for in a circle. */
export const npmUpstreamChainedWaitMs = second
/** How often those who wait for another process look whether it is there, and how long they wait. */
export const npmFetchLookEveryMs = second / 4
export const npmFetchWaitMs = 5 * minute
/** Processes that may come before one that waits, and leave nothing. */
export const npmFetchTries = 3
/** How often it is written down that an upstream still fails. */
export const npmFailureNotedEveryMs = minute

/** How often it is looked for what is cached in vain. */
export const npmUpstreamUpkeepEveryMs = 10 * minute
/** Cached versions that one transaction drops: a second at most. */
export const npmCachedPerDrop = 500

/** The file of credentials: lines as in .npmrc. */
export const npmCredentialsFileBytesMax = 64 * KiB
export const npmCredentialsLookEveryMs = 2 * second
/** What comes in smaller pieces is put together before it is looked at. */
export const npmUpstreamPieceBytesMin = 16 * KiB
