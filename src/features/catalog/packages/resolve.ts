import type { Queries } from '../../../database/database.ts'
import { invalid, notFound } from '../../../kernel/failure.ts'
import { caseless } from '../../../kernel/names.ts'
import { findSameVersion } from './packages.queries.ts'
import { allVersions, exactly, intervalsOf, type KeyInterval } from './ranges.ts'
import { findHighest, findLatestPromoted, type PackageKey } from './resolve.queries.ts'
import { parseVersion, type Version, versionKey } from './version-order.ts'

/** What is asked for. All that is given must fit. */
export interface Selection {
  readonly name: string
  /** Absent and empty mean the root group. */
  readonly group?: string
  readonly version?: string
  readonly range?: string
  readonly stage?: string
  readonly prerelease?: 'true' | 'false'
  /** The highest version (the default), or that which reached the stage last. */
  readonly order?: 'version' | 'promoted'
}

/**
 * Chooses one version. The database does: intervals of keys stand for the version or range, so that it costs as much
 * with ten thousand versions as with ten. Without version and range it is the highest release. An exact version and a
 * range that names a pre-release need no flag to get one. 404 where none fits.
 */
export const resolvePackage = async (q: Queries, repository: string, wanted: Selection) => {
  const { stage, order } = wanted
  const key = { repository, groupKey: caseless(wanted.group ?? ''), nameKey: caseless(wanted.name) }
  if (order === 'promoted' && stage === undefined) throw invalid('/query/order', 'promoted needs a stage to go by')
  const exact = exactVersion(wanted)
  const intervals = exact === null ? intervalsFor(wanted) : await asRegistered(q, key, exact)
  const found =
    intervals.length === 0
      ? undefined
      : await (order === 'promoted' && stage !== undefined
          ? findLatestPromoted(q, key, stage, intervals)
          : findHighest(q, key, stage ?? null, intervals))
  if (found === undefined) throw notFound('package version')
  return found
}

/** The one version that is asked for, also as a range that is nothing else. */
const exactVersion = ({ version, range }: Selection): Version | null => {
  if (version !== undefined && range !== undefined) throw invalid('/query/range', 'must not be given with a version')
  if (version === undefined) return range === undefined ? null : parseVersion(range.trim())
  const parsed = parseVersion(version)
  if (parsed === null)
    throw invalid('/query/version', 'must be MAJOR.MINOR.PATCH as in SemVer 2.0.0; for more use range')
  return parsed
}

/** A version has one holder, whatever upper and lower case it is asked for in. */
const asRegistered = async (
  q: Queries,
  { repository, groupKey, nameKey }: PackageKey,
  version: Version,
): Promise<KeyInterval[]> => {
  const keys = { repository, group_key: groupKey, name_key: nameKey, version_key: versionKey(version) }
  const registered = parseVersion((await findSameVersion(q, keys))?.version ?? '')
  return registered === null ? [] : exactly(registered)
}

const intervalsFor = ({ range, prerelease }: Selection): KeyInterval[] =>
  range === undefined ? allVersions(prerelease === 'true') : intervalsOf(range, prerelease === 'true')
