import { foldCase } from './fold-case.ts'
import { searchGramsMax, searchPathsIndexed } from './limits/search.ts'

/**
 * The words of search, pure, so that both engines mean the same by them: what it is for two texts to be equal but for
 * case, and by which tokens an index finds a file. A token only says "perhaps": tokens are hashes, and a text may have
 * all parts of a needle without having the needle. Whoever asks the index looks at what it found again.
 */

/** What of a file can be found: by parts of name and metadata values, and by exact labels, collections and metadata. */
export interface Searchable {
  readonly repository: string
  readonly name: string
  readonly labels: readonly string[]
  readonly metadata: Readonly<Record<string, string>>
  readonly collections: readonly string[]
}

/** What to look for; what is undefined matches everything. */
export interface SearchFilters {
  /** Part of the name or of a metadata value, in any case. */
  readonly q: string | undefined
  readonly label: string | undefined
  readonly collection: string | undefined
  readonly metadata: { readonly key: string; readonly value: string } | undefined
  readonly sha256: string | undefined
  /** Part of a path that shows the file now, in any case. */
  readonly path: string | undefined
}

export const noFilters: SearchFilters = {
  q: undefined,
  label: undefined,
  collection: undefined,
  metadata: undefined,
  sha256: undefined,
  path: undefined,
}

/** Where a file is found: by its digest, and by parts of the paths that show it now. */
export interface Located {
  readonly sha256: string
  /** Folded, one a line; null where they are too many for the index. */
  readonly paths: string | null
}

/**
 * Between the texts of a file. No name, value or needle has control characters, so that no needle lies across two
 * texts.
 */
const between = '\n'

/** Name and metadata values, folded: a file is found by every part of a line of it. */
export const searchText = ({ name, metadata }: Pick<Searchable, 'name' | 'metadata'>): string =>
  [name, ...Object.values(metadata)].map(foldCase).join(between)

/** Paths, folded: a file is found by every part of one of them. Null where there are too many for the index. */
export const pathsText = (paths: readonly string[]): string | null =>
  paths.length > searchPathsIndexed ? null : paths.map(foldCase).join(between)

/** Pieces of this many UTF-16 units are indexed, and all shorter ones. */
const gramUnits = 3

/** Tokens of what can be looked for exactly, each once: 32-bit integers. */
export const exactTokensOf = (file: Omit<Searchable, 'name'>): Set<number> => {
  const tokens = new Set<number>([repositoryToken(file.repository)])
  for (const label of file.labels) tokens.add(labelToken(label))
  for (const collection of file.collections) tokens.add(collectionToken(collection))
  for (const [key, value] of Object.entries(file.metadata)) tokens.add(metadataToken(key, value))
  return tokens
}

/** Those and the tokens of all pieces of its texts. */
export const tokensOf = (file: Searchable, text: string): Set<number> => {
  const tokens = exactTokensOf(file)
  for (const line of text.split(between)) addGrams(tokens, line, nameSeed)
  return tokens
}

/** Tokens of where a file is: its digest and all pieces of its paths, or that there are many. */
export const whereTokensOf = ({ sha256, paths }: Located): Set<number> => {
  const tokens = new Set([digestToken(sha256)])
  if (paths === null) tokens.add(manyPathsToken)
  else for (const line of paths.split(between)) addGrams(tokens, line, pathSeed)
  return tokens
}

const addGrams = (tokens: Set<number>, line: string, seed: number): void => {
  for (let units = 1; units <= gramUnits; units++)
    for (let at = 0; at + units <= line.length; at++) tokens.add(gramToken(seed, line, at, units))
}

/** Tokens that every file has that the filters match, whatever its paths. */
export const tokensOfFilters = (repository: string, filters: SearchFilters): Set<number> => {
  const tokens = new Set<number>([repositoryToken(repository)])
  if (filters.label !== undefined) tokens.add(labelToken(filters.label))
  if (filters.collection !== undefined) tokens.add(collectionToken(filters.collection))
  if (filters.metadata !== undefined) tokens.add(metadataToken(filters.metadata.key, filters.metadata.value))
  if (filters.sha256 !== undefined) tokens.add(digestToken(filters.sha256))
  for (const token of tokensOfNeedle(foldCase(filters.q ?? ''), nameSeed)) tokens.add(token)
  return tokens
}

/** Tokens that a file has with a path of which this is a part, unless it has the token of those with many paths. */
export const tokensOfPathPart = (part: string): Set<number> => tokensOfNeedle(foldCase(part), pathSeed)

/** At most so many of a long needle, taken evenly. */
const tokensOfNeedle = (needle: string, seed: number): Set<number> => {
  const tokens = new Set<number>()
  if (needle === '') return tokens
  const units = Math.min(gramUnits, needle.length)
  const starts = needle.length - units + 1
  const taken = Math.min(starts, searchGramsMax)
  for (let i = 0; i < taken; i++)
    tokens.add(gramToken(seed, needle, taken === 1 ? 0 : Math.round((i * (starts - 1)) / (taken - 1)), units))
  return tokens
}

/** Whether the filters that are no needle match: what the index says of them is only "perhaps". */
export const matchesExactly = (
  file: Pick<Searchable & Located, 'labels' | 'metadata' | 'collections' | 'sha256'>,
  { label, collection, metadata, sha256 }: SearchFilters,
): boolean =>
  (sha256 === undefined || file.sha256 === sha256) &&
  (label === undefined || file.labels.includes(label)) &&
  (collection === undefined || file.collections.includes(collection)) &&
  (metadata === undefined ||
    (Object.hasOwn(file.metadata, metadata.key) && file.metadata[metadata.key] === metadata.value))

const repositoryToken = (repository: string): number => hashed(`r${repository}`)
const labelToken = (label: string): number => hashed(`l${label}`)
const collectionToken = (collection: string): number => hashed(`c${collection}`)
/** No key has an equals sign. */
const metadataToken = (key: string, value: string): number => hashed(`m${key}=${value}`)

const digestToken = (sha256: string): number => hashed(`d${sha256}`)

/** FNV-1a over UTF-16 units, with a last stir so that neighbours lie apart. */
const offset = 0x811c9dc5
const prime = 0x01000193

const hashed = (text: string): number => stirred(hashOfUnits(offset, text, 0, text.length))

/**
 * Pieces begin as no other kind does, and those of paths otherwise than those of names: a piece of text is told from a
 * label of the same letters by its length too.
 */
const nameSeed = 0x5bd1e995
const pathSeed = 0x27d4eb2f
const gramToken = (seed: number, text: string, at: number, units: number): number =>
  stirred(hashOfUnits(offset ^ (seed + units), text, at, at + units))

const hashOfUnits = (start: number, text: string, from: number, to: number): number => {
  let hash = start
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ text.charCodeAt(at), prime)
  return hash
}

const stirred = (hash: number): number => {
  const once = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (once ^ (once >>> 13)) | 0
}

/** Of files that have more paths than the index takes: they are looked at whatever the path. */
export const manyPathsToken: number = hashed('many paths')
