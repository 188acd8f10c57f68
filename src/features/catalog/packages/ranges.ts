import type { Comparator } from 'semver'
import Range from 'semver/classes/range.js'
import { invalid } from '../../../kernel/failure.ts'
import {
  afterKey,
  firstKey,
  lastKey,
  parseVersion,
  prereleaseBounds,
  type Version,
  versionKey,
} from './version-order.ts'

/** Versions of one kind whose keys lie from `from` up to, but without, `to`. */
export interface KeyInterval {
  readonly prerelease: 0 | 1
  readonly from: string
  readonly to: string
}

interface Bounds {
  readonly from: string
  readonly to: string
}

const everything: Bounds = { from: firstKey, to: afterKey(lastKey) }

/** Every version; pre-releases only when they are asked for. */
export const allVersions = (withPrereleases: boolean): KeyInterval[] =>
  withPrereleases
    ? [
        { prerelease: 0, ...everything },
        { prerelease: 1, ...everything },
      ]
    : [{ prerelease: 0, ...everything }]

/** This version and no other. */
export const exactly = (version: Version): KeyInterval[] => {
  const key = versionKey(version)
  return [{ prerelease: version.prerelease.length > 0 ? 1 : 0, from: key, to: afterKey(key) }]
}

/**
 * What a range of node-semver means, as intervals of keys that do not touch. The library reads the range; here its
 * comparators become bounds. A pre-release belongs to a set of comparators only if one of them names a pre-release of
 * the same three numbers, unless all pre-releases are asked for. 400 for text that is no range.
 */
export const intervalsOf = (text: string, withPrereleases: boolean): KeyInterval[] => {
  const intervals = parseRange(text, withPrereleases).set.flatMap((comparators) => {
    const bounds = comparators.reduce((so, comparator) => within(so, boundsOf(comparator)), everything)
    const releases: KeyInterval = { prerelease: 0, ...bounds }
    if (withPrereleases) return [releases, { ...releases, prerelease: 1 as const }]
    return [
      releases,
      ...namedPrereleases(comparators).map((tuple) => ({ prerelease: 1 as const, ...within(bounds, tuple) })),
    ]
  })
  return merged(intervals.filter(({ from, to }) => from < to))
}

const parseRange = (text: string, includePrerelease: boolean): Range => {
  try {
    return new Range(text, { includePrerelease })
  } catch {
    throw invalid(
      '/query/range',
      'must be a range of SemVer as npm reads it, such as ^1.2.0, ~1.4, 1.x, ">=1.2.0 <2.0.0" or "1.2.3 || 2.x"',
    )
  }
}

/** Keys are ASCII, so that comparing them here and comparing their bytes in a database are one. */
const isAbove = (a: string, b: string): boolean => a > b

const within = (a: Bounds, b: Bounds): Bounds => ({
  from: isAbove(a.from, b.from) ? a.from : b.from,
  to: isAbove(a.to, b.to) ? b.to : a.to,
})

/** Null for the comparator that takes everything. */
const versionOf = ({ semver }: Comparator): Version | null => {
  // The types know nothing of it: the library puts a symbol in place of a version there.
  const found: unknown = semver
  return typeof found === 'symbol' ? null : parseVersion(semver.version)
}

const boundsOf = (comparator: Comparator): Bounds => {
  const version = versionOf(comparator)
  if (version === null) return everything
  const key = versionKey(version)
  switch (comparator.operator) {
    case '<':
      return { ...everything, to: key }
    case '<=':
      return { ...everything, to: afterKey(key) }
    case '>':
      return { ...everything, from: afterKey(key) }
    case '>=':
      return { ...everything, from: key }
    default:
      return { from: key, to: afterKey(key) }
  }
}

const namedPrereleases = (comparators: readonly Comparator[]): Bounds[] =>
  comparators.flatMap((comparator) => {
    const version = versionOf(comparator)
    if (version === null || version.prerelease.length === 0) return []
    const [from, to] = prereleaseBounds(version)
    return [{ from, to }]
  })

const merged = (intervals: readonly KeyInterval[]): KeyInterval[] => {
  const result: KeyInterval[] = []
  for (const next of intervals.toSorted((a, b) => a.prerelease - b.prerelease || (a.from < b.from ? -1 : 1))) {
    const last = result.at(-1)
    if (last === undefined || last.prerelease !== next.prerelease || next.from > last.to) result.push(next)
    else result[result.length - 1] = { ...last, to: isAbove(last.to, next.to) ? last.to : next.to }
  }
  return result
}
