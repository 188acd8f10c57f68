import { KiB, MiB } from '../units.ts'

/** Bounds of packages and their archives. */

/** Packages. */
export const packageNameMaxCharacters = 128 // spec
export const packageGroupMaxCharacters = 128 // spec
/** What node-semver takes as well. */
export const packageVersionMaxCharacters = 256
export const packageRangeMaxCharacters = 256 // spec
export const packageManifestBytesMax = MiB
/** Objects and arrays within each other in a manifest: people nest five, and writing it out again takes a stack. */
export const packageManifestDepthMax = 64
/** Manifests that one page carries; a page with more is cut short and has a `next`. */
export const packagePageManifestBytesMax = 4 * MiB
/** Files in a package: the largest known have some ten thousand. Their names are kept while the archive is checked. */
export const archiveEntriesMax = 100_000
/** Folders that their names speak of, of which a single deep path has hundreds. */
export const archiveFoldersMax = 100_000
/** The list of files in an archive: 160 bytes for each of the most that there may be. */
export const archiveDirectoryBytesMax = 16 * MiB
/** As long as the paths of files here. */
export const archiveNameBytesMax = 1_024
/** Bytes of an archive that are in memory while it is checked. */
export const archiveWindowBytes = 256 * KiB
/** Entries that are looked at before others get their turn; they take some three milliseconds. */
export const archiveEntriesAtOnce = 250
/** Archives that are checked at once: each may take some 50 MiB for its names (measured). The rest waits in line. */
export const archivesAtOnce = 2
export const archivesWaitingMax = 100
/** Deflate cannot do better than 1 in 1,032 (RFC 1951: 258 bytes for two bits), and a few bytes at the ends. */
export const deflateRatioMax = 1_032
