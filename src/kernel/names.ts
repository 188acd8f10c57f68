import { foldCase } from './fold-case.ts'
import { assetPathMaxCharacters } from './limits/catalog.ts'

/** A pattern for numbers of as many digits as this one, none of them above it. */
const sameLengthUpTo = (highest: string): string =>
  [...highest]
    .flatMap((digit, at) => {
      const [from, to] = [at === 0 ? 1 : 0, Number(digit) - 1]
      return from > to ? [] : [`${highest.slice(0, at)}[${from}-${to}][0-9]{${highest.length - at - 1}}`]
    })
    .concat(highest)
    .join('|')

/**
 * The grammars of names, as regular expression sources so that schemas and OpenAPI show exactly what is checked.
 * Patterns are meant for the `u` flag, which JSON Schema validators set.
 */
export const patterns = {
  repositoryId: '^[a-z0-9][a-z0-9_-]{0,63}$',
  accountName: '^[A-Za-z0-9_.-]{3,64}$',
  groupName: '^[A-Za-z0-9_.-]{2,64}$',
  /** Of packages. Dots alone are no name; `packageNameFault` says so. */
  packageName: '^[A-Za-z0-9_.-]{1,128}$',
  /** Somebody by name or id, with the kind before it where the name alone is not enough. */
  somebody: '^((account|service-account|key):)?[A-Za-z0-9_.-]{1,64}$',
  /** Kind and id of the last one of a page of callers. */
  callerCursor:
    '^((account|service-account):[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|key:[A-Za-z0-9_.-]{1,64})$',
  uuid: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
  sha256: '^[0-9a-f]{64}$',
  idempotencyKey: '^[A-Za-z0-9_.:-]{1,128}$',
  /** As `kernel/order.ts` makes it. */
  idCursor: '^(?:desc\\.)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
  uuids:
    '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(,[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})*$',
  stage: '^[a-z0-9][a-z0-9_.-]{0,31}$',
  /** Where a page of stages goes on: `<artifactId>/<stage>`. */
  stageCursor: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/[a-z0-9][a-z0-9_.-]{0,31}$',
  referenceKey: '^[A-Za-z0-9_.:/-]{1,256}$',
  metadataKey: '^[a-zA-Z][a-zA-Z0-9_.-]{0,63}$',
  /** A place in a journal: decimal digits without leading zeros, exact as a number. */
  sequence: '^(0|[1-9][0-9]{0,14})$',
  sequenceCursor: '^(?:desc\\.)?(0|[1-9][0-9]{0,14})$',
  /** A position in a list by time: milliseconds since 1970, and an id. */
  timeCursor: '^[0-9]{1,17}_[0-9a-f-]{36}$',
  /** A place in the contents of a point: table, chunk, line. */
  contentCursor: '^[0-9]{1,2}\\.[0-9]{1,7}\\.[0-9]{1,5}$',
  collection: '^[A-Za-z0-9_.:-]{1,64}$',
  /** A count of bytes: decimal digits without leading zeros, up to 2^53 - 1, which numbers hold exactly. */
  byteCount: `^(0|[1-9][0-9]{0,14}|${sameLengthUpTo('9007199254740991')})$`,
  downloadId: '^[A-Za-z0-9_-]{16,64}$',
  operationId: '^[A-Za-z][A-Za-z0-9]{0,95}$',
  opaqueCursor: '^[A-Za-z0-9_-]{1,8192}$',
  /** RFC 3339 with any offset, and up to nanoseconds. */
  dateTime:
    '^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$',
  /** In UTC with milliseconds, the form in which times are stored and compare as text. */
  utcMilliseconds: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$',
  /** Text without control characters and without halves of surrogate pairs. */
  text: '^[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]*$',
} as const

const uuid = new RegExp(patterns.uuid, 'u')
const repositoryId = new RegExp(patterns.repositoryId, 'u')

/** True for text that may name a row with a UUID. Anything else is not even looked for. */
export const isUuid = (text: string): boolean => uuid.test(text)

const utcMilliseconds = new RegExp(patterns.utcMilliseconds, 'u')

/** True for text that has the form of a stored time. */
export const isStoredTime = (text: string): boolean => utcMilliseconds.test(text)

/** True for text that may name a repository. */
export const isRepositoryId = (text: string): boolean => repositoryId.test(text)

const stage = new RegExp(patterns.stage, 'u')

/** True for text that may name a stage. */
export const isStage = (text: string): boolean => stage.test(text)

const printable = new RegExp(patterns.text, 'u')

/** True for text without control characters and without halves of surrogate pairs. */
export const isPrintable = (text: string): boolean => printable.test(text)

/** True for text that both engines can hold and give back: no zero character, no halves of surrogate pairs. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Characters as a person counts them: code points, not UTF-16 units. */
const characters = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

/**
 * Why the text is no file path, or null if it is one: 1 to 1,024 characters, segments separated by `/`, none of them
 * empty, `.` or `..`, no backslash, colon or control character (specification, File path revision).
 */
export const pathFault = (path: string): string | null => {
  if (path === '') return 'must not be empty'
  if (path.length > assetPathMaxCharacters && characters(path) > assetPathMaxCharacters)
    return `must have at most ${assetPathMaxCharacters} characters`
  if (path.includes('\\')) return 'must not contain a backslash'
  if (path.includes(':')) return 'must not contain a colon'
  if (!isPrintable(path)) return 'must not contain control characters or broken surrogates'
  for (const segment of path.split('/')) {
    if (segment === '') return 'must not contain an empty segment (a leading, trailing or doubled slash)'
    if (segment === '.' || segment === '..') return `must not contain the segment ${JSON.stringify(segment)}`
  }
  return null
}

/**
 * The least string above every string that starts with the prefix, in UTF-8 byte order; null when there is none (an
 * empty prefix, or nothing but U+10FFFF). UTF-8 order is code point order, so the last code point that can grow grows.
 */
export const prefixEnd = (prefix: string): string | null => {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  while (points.length > 0) {
    const last = points.pop() ?? 0
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
  }
  return null
}

/**
 * Names of accounts, groups, packages and attachments are told apart without regard to case, nor to how accents are
 * composed.
 */
export const caseless = (name: string): string => foldCase(name.normalize('NFC')).normalize('NFC')

/** The last characters of a text, never splitting a code point. */
export const lastCharacters = (text: string, count: number): string => {
  if (text.length <= count) return text
  return Array.from(text).slice(-count).join('')
}
