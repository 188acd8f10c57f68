import parse from 'semver/functions/parse.js'
import { packageVersionMaxCharacters } from '../../../kernel/limits/packages.ts'

/** A version as SemVer 2.0.0 reads it. */
export interface Version {
  readonly major: number
  readonly minor: number
  readonly patch: number
  readonly prerelease: readonly string[]
}

const digits = /^[0-9]+$/

/**
 * The version, or null for text that is none: MAJOR.MINOR.PATCH exactly, and no number beyond 2^53 - 1. The library
 * reads it; what it forgives (a `v` in front, blanks around it) shows in that it would write the version otherwise.
 */
export const parseVersion = (text: string): Version | null => {
  if (text.length > packageVersionMaxCharacters) return null
  const read = parse(text)
  if (read === null) return null
  if ([read.version, ...(read.build.length > 0 ? [read.build.join('.')] : [])].join('+') !== text) return null
  const prerelease = read.prerelease.map(String)
  if (!prerelease.every((each) => !digits.test(each) || Number.isSafeInteger(Number(each)))) return null
  return { major: read.major, minor: read.minor, patch: read.patch, prerelease }
}

/**
 * Keys of versions: text whose byte order is the precedence of SemVer, so that a database finds the highest version by
 * an index. Versions that differ only in their build metadata have the same key.
 *
 *     1.2.3          0000000000000001 0000000000000002 0000000000000003 ~
 *     1.2.3-rc.10    0000000000000001 0000000000000002 0000000000000003 1rc! 000210!
 *
 * (without the blanks). Numbers have 16 digits, the width of 2^53 - 1. A release ends in `~`, which is above everything
 * that an identifier begins with. Identifiers begin with 0 when they are numbers, which come first, and then say how
 * many digits they have; others begin with 1. Each ends in `!`, which is below everything that it could go on with.
 */
const width = 16
const release = '~'
const end = '!'
/** Below everything that a key can go on with. */
const justAbove = ' '

const padded = (value: number): string => String(value).padStart(width, '0')
const identifierKey = (text: string): string =>
  digits.test(text) ? `0${String(text.length).padStart(3, '0')}${text}${end}` : `1${text}${end}`

/** What the keys of all versions with these three numbers begin with, and no others. */
export const tupleKey = ({ major, minor, patch }: Version): string => padded(major) + padded(minor) + padded(patch)

export const versionKey = (version: Version): string =>
  tupleKey(version) +
  (version.prerelease.length === 0 ? release : version.prerelease.map((each) => identifierKey(each)).join(''))

/** Lies between a key and the next one that there could be. */
export const afterKey = (key: string): string => key + justAbove

/** Below and above every key. */
export const firstKey = ''
export const lastKey = release

/** Keys of pre-releases of a tuple lie from the first of these up to the second. */
export const prereleaseBounds = (version: Version): readonly [from: string, to: string] => {
  const tuple = tupleKey(version)
  // The least pre-release of all is -0, so that a range below it is seen to be empty.
  return [tuple + identifierKey('0'), tuple + release]
}
