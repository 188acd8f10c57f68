import { GiB, KiB, MiB } from '../units.ts'

/** Bounds of npm packages. */

/** A name with its scope, as the registry of npm has it. */
export const npmNameMaxCharacters = 214
/** Of one tag. */
export const npmTagMaxCharacters = 214
/** Rendered versions that are stored together: publishing writes one such piece anew (1 ms), reading asks for few. */
export const npmPieceBytes = 64 * KiB
/** Pieces that one statement reads: half a MiB, or 16 where each is a version of the largest. */
export const npmPiecesAtOnce = 8
/** Documents that are put together, or compressed, at the same time: each is whole in memory. */
export const npmDocumentsMadeAtOnce = 2
/**
 * Documents that are being sent, each counted once: two of the largest that come from upstreams. What is smaller than a
 * step counts with all other answers that nobody takes.
 */
export const npmDocumentsLentBytes = 128 * MiB
/** Times that a document is read anew, because its package was changed meanwhile, before one state of it is held. */
export const npmDocumentTries = 3
/** Documents that are kept in memory as they are sent, compressed or not: a thousand versions are some 2 MiB. */
export const npmDocumentsKeptBytes = 48 * MiB
/** Documents from here on are sent in steps, so that what waits for a slow client is not all of it. */
export const npmDocumentStepBytes = 256 * KiB
/** Below this a document is not compressed: it fits into one packet or two. */
export const npmCompressedFromBytes = 2 * KiB
/** What a document says beside versions and attachments: names, tags, times and a readme. Parsed in 20 ms. */
export const npmDocumentRestMaxBytes = 4 * MiB
/** One version with its readme: manifests have some kilobytes, those with a readme some hundred. */
export const npmVersionMaxBytes = 2 * MiB
/** Of a package: clients send all of them back to change one. */
export const npmVersionsMax = 20_000
export const npmVersionsSentMaxBytes = 32 * MiB
/** What a version costs in memory beside its bytes, while its document comes. */
export const npmVersionKeptBytes = 512
/** Objects and lists in each other, of what is said of a package; manifests have some five. */
export const npmJsonDepthMax = 100
/**
 * Names and values of one version, as brackets, commas and colons between them. To parse a name costs some
 * microseconds, whatever its length.
 */
export const npmJsonPartsMax = 20_000
/** What is said in a refusal of what was sent. */
export const npmQuotedMaxCharacters = 250
/**
 * What the full document of a package has of its versions: 16,000 as they are usual. It is held in memory while it is
 * sent, once for all who read it.
 */
export const npmDocumentMaxBytes = 32 * MiB
/** What lists and searches tell of a package: its description, and how many keywords of which length. */
export const npmSummaryMaxCharacters = 1_000
export const npmKeywordsShownMax = 50
export const npmKeywordMaxCharacters = 100
/** What is said of a deprecated version: every install shows it. */
export const npmDeprecationMaxCharacters = 1_024
/** Name, or address, of an owner. */
export const npmOwnerMaxCharacters = 254
/** What a tarball unpacks to: at most this, and no more than so many times its size once it is more than a little. */
export const npmUnpackedMaxBytes = 16 * GiB
export const npmUnpackedRatioMax = 100
export const npmUnpackedFreeBytes = 64 * MiB
/** A tarball of at most so many bytes that unpacks to so many is unpacked on the event loop, in half a millisecond. */
export const npmSmallTarballBytes = 128 * KiB
export const npmUnpackedAtOnceBytes = 256 * KiB
/** Files of one package; the largest that are known have some ten thousand. */
export const npmFilesMax = 100_000
/** The package.json in a tarball. */
export const npmInnerManifestMaxBytes = MiB
/** Attestations that come with a version: a bundle of Sigstore has some ten kilobytes. */
export const npmAttestationMaxBytes = MiB
/** Tags that one package has, and that one publish sets. */
export const npmTagsMax = 1_000
/** Tags that a promoted version gets. */
export const npmTagsPerPromotionMax = 100
/** Names of owners, and of those who starred a package. */
export const npmMaintainersMax = 200
export const npmStarsMax = 10_000
/**
 * The same of what a document says beside its versions: all that a package may have, so that clients can send back what
 * they read. Two for the name of each version, its time, each tag and star; six for each owner; and the fields.
 */
export const npmDocumentPartsMax =
  2 * (2 * npmVersionsMax + npmTagsMax + npmStarsMax) + 6 * npmMaintainersMax + npmJsonPartsMax
/** Versions that one transaction takes away: a second at most. */
export const npmVersionsPerRemoval = 500
/** Packages in one answer of a search, as the registry of npm has it. */
export const npmSearchPageMax = 250
export const npmSearchPageDefault = 20
/** Packages that a search passes over at most: nobody pages through more. */
export const npmSearchFromMax = 1_000_000
/** Characters of what is searched for, and words in it that are looked at. */
export const npmSearchMaxCharacters = 256
export const npmSearchWordsMax = 8
/** What a package is found by: its name, its description and its first keywords. */
export const npmFoundByMaxCharacters = 1_000
/** Packages that a search looks at before others have their turn (some milliseconds), and searches at the same time. */
export const npmSearchedAtOnce = 200
export const npmSearchesAtOnce = 2
/** A version in JSON, as the body that moves a tag. */
export const npmTagBodyMaxBytes = KiB
/** Versions of a document that are parsed before others have their turn: some milliseconds. */
export const npmDocumentsReadAtOnce = 200
export const npmParsedAtOnceBytes = 256 * KiB
