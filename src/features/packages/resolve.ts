import type { Queries } from '../../database/database.ts'
import { invalid, notFound } from '../../kernel/failure.ts'
import { caseless } from '../../kernel/names.ts'
import { parseVersion } from '../../kernel/version-order.ts'
import { allVersions, exactly, intervalsOf, type KeyInterval } from './ranges.ts'
import { findHighest, findLatestPromoted } from './resolve.queries.ts'

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
 * Chooses one version. The database does: intervals of keys stand for the version or range, so that it costs as much with
 * ten thousand versions as with ten. Without version and range it is the highest release. An exact version and a range
 * that names a pre-release need no flag to get one. 404 where none fits.
 */
export const resolvePackage = async (q: Queries, repository: string, wanted: Selection) => {
  const { stage, order } = wanted
  const key = { repository, groupKey: caseless(wanted.group ?? ''), nameKey: caseless(wanted.name) }
  if (order === 'promoted' && stage === undefined) throw invalid('/query/order', 'promoted needs a stage to go by')
  const intervals = intervalsFor(wanted)
  const found =
    intervals.length === 0
      ? undefined
      : await (order === 'promoted' && stage !== undefined
          ? findLatestPromoted(q, key, stage, intervals)
          : findHighest(q, key, stage ?? null, intervals))
  if (found === undefined) throw notFound('package version')
  return found
}

const intervalsFor = ({ version, range, prerelease }: Selection): KeyInterval[] => {
  if (version !== undefined && range !== undefined) throw invalid('/query/range', 'must not be given with a version')
  if (range !== undefined) return intervalsOf(range, prerelease === 'true')
  if (version === undefined) return allVersions(prerelease === 'true')
  const parsed = parseVersion(version)
  if (parsed === null)
    throw invalid('/query/version', 'must be MAJOR.MINOR.PATCH as in SemVer 2.0.0; for more use range')
  return exactly(parsed)
}
