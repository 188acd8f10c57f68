import type { Expression, SelectQueryBuilder } from 'kysely'
import type { Queries } from '../../database/database.ts'
import type { KeyInterval } from './ranges.ts'

/** A package within a repository. */
export interface PackageKey {
  readonly repository: string
  readonly groupKey: string
  readonly nameKey: string
}

interface Candidate {
  readonly artifact_id: string
  readonly version_key: string
  readonly promoted_at: string | null
}

/** The highest version in any of the intervals, of which there is one at least: a look into an index for each, in one statement. */
export const findHighest = (q: Queries, of: PackageKey, stage: string | null, intervals: readonly KeyInterval[]) => {
  const candidates: Expression<Candidate> =
    stage === null
      ? anyOf(intervals.map((interval) => q.selectFrom(inAll(q, of, interval).as('one')).selectAll()))
      : anyOf(intervals.map((interval) => q.selectFrom(inStage(q, of, stage, interval).as('one')).selectAll()))
  return chosenFrom(q, candidates)
}

const anyOf = <DB, TB extends keyof DB, O>(queries: readonly SelectQueryBuilder<DB, TB, O>[]) =>
  queries.reduce((all, query) => all.unionAll(query))

/** The highest of the candidates, with all that is told of it. */
const chosenFrom = (q: Queries, candidates: Expression<Candidate>) =>
  q
    .with('chosen', () => candidates)
    .selectFrom('chosen')
    .innerJoin('packages as p', 'p.artifact_id', 'chosen.artifact_id')
    .innerJoin('artifacts as a', 'a.id', 'chosen.artifact_id')
    .select(['p.artifact_id', 'p.group_name', 'p.name', 'p.version', 'chosen.promoted_at'])
    .select(['a.name as file_name', 'a.sha256', 'a.size', 'a.published_at'])
    .orderBy('chosen.version_key', 'desc')
    .limit(1)
    .executeTakeFirst()

const inAll = (q: Queries, { repository, groupKey, nameKey }: PackageKey, { prerelease, from, to }: KeyInterval) =>
  q
    .selectFrom('packages')
    .select((eb) => ['artifact_id', 'version_key', eb.cast<string | null>(eb.val(null), 'text').as('promoted_at')])
    .where('repository', '=', repository)
    .where('group_key', '=', groupKey)
    .where('name_key', '=', nameKey)
    .where('prerelease', '=', prerelease)
    .where('version_key', '>=', from)
    .where('version_key', '<', to)
    .orderBy('version_key', 'desc')
    .limit(1)

const inStage = (
  q: Queries,
  { repository, groupKey, nameKey }: PackageKey,
  stage: string,
  { prerelease, from, to }: KeyInterval,
) =>
  q
    .selectFrom('package_stages')
    .select(['artifact_id', 'version_key', 'promoted_at'])
    .where('repository', '=', repository)
    .where('group_key', '=', groupKey)
    .where('name_key', '=', nameKey)
    .where('stage', '=', stage)
    .where('prerelease', '=', prerelease)
    .where('version_key', '>=', from)
    .where('version_key', '<', to)
    .orderBy('version_key', 'desc')
    .limit(1)

/** The version in any of the intervals that reached the stage last; of those that did at once, the highest. */
export const findLatestPromoted = (
  q: Queries,
  { repository, groupKey, nameKey }: PackageKey,
  stage: string,
  intervals: readonly KeyInterval[],
) => {
  const latest = q
    .selectFrom('package_stages')
    .select(['artifact_id', 'version_key', 'promoted_at'])
    .where('repository', '=', repository)
    .where('group_key', '=', groupKey)
    .where('name_key', '=', nameKey)
    .where('stage', '=', stage)
    .where((eb) =>
      eb.or(
        intervals.map(({ prerelease, from, to }) =>
          eb.and([eb('prerelease', '=', prerelease), eb('version_key', '>=', from), eb('version_key', '<', to)]),
        ),
      ),
    )
    .orderBy('promoted_at', 'desc')
    .orderBy('version_key', 'desc')
    .limit(1)
  return chosenFrom(q, latest)
}
