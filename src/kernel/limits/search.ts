/** Bounds of search. */

/** Search. A needle longer than the longest text that it could be a part of finds nothing. */
export const searchNeedleMaxCharacters = 1024
/**
 * Pieces of a needle that the index is asked for: more of them cost more than the few false hits that they would spare.
 */
export const searchGramsMax = 12
/**
 * Current paths of one file that the index takes: each adds some hundred tokens to what every change of them writes.
 * Nearly all files have one.
 */
export const searchPathsIndexed = 32
/** Of a file with more of them, so many are looked at, in the order of their bytes. */
export const searchPathsLookedAt = 1_000
/** Characters of such paths that one search compares before the process goes on with other work (some 3 ms). */
export const searchCharactersPerRound = 65_536
/** Paths that a hit shows. */
export const hitPathsMax = 10
/** Repositories that one page of a search of all goes through: what nothing is found in costs a query, too. */
export const searchRepositoriesPerPage = 64
export const searchSteps = {
  /** Entries that one step looks at, from the first, which a common needle needs, to the longest (some 15 ms). */
  rowsFirst: 256,
  rowsMax: 4_096,
  /** While one in so many matches, walking is all that is needed; else the inverted index is asked. */
  walkRowsPerHit: 128,
  /** An answer of the inverted index that is longer is not fetched (some 10 ms). */
  indexRowsMax: 2_000,
  /** Walking goes no further than this (some 30 ms) before the inverted index has to sort all that it finds. */
  walkRowsMax: 32_768,
} as const
