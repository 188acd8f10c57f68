import { type RawBuilder, sql } from 'kysely'
import type { Queries } from '../../../database/database.ts'
import { engineOf } from '../../../database/engine-of.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import { promotedVersionsReadMax } from '../../../kernel/limits/engines.ts'
import type { KeyInterval } from './ranges.ts'
import { stageNames } from './stages.queries.ts'

/**
 * One statement for each way to choose, whatever the number of intervals, and in it no more than a look into one index
 * for each of them. Nothing is left to the estimates of PostgreSQL's planner. It multiplies what it knows of
 * repository, group and name, comes to believe that a package has one version, and then takes any index that begins
 * with these, and sorts; for a package that has ten thousand it is wrong by milliseconds. Of rows of columns it only
 * estimates the first, and so expects many: compared as rows, and in the order of them, keys are found by the one index
 * that has this order, at once.
 */

/** A package within a repository. */
export interface PackageKey {
  readonly repository: string
  readonly groupKey: string
  readonly nameKey: string
}

/** A version that was chosen, with all that is told of it. */
export interface Chosen {
  readonly artifact_id: string
  readonly group_name: string
  readonly name: string
  readonly version: string
  readonly file_name: string
  readonly sha256: string
  readonly size: number
  readonly published_at: string
  /** When it reached the stage that was asked for. */
  readonly promoted_at: string | null
  /** Their names with commas between them, in any order. */
  readonly stages: string | null
}

type Asked = PackageKey & { readonly intervals: string }
type AskedInStage = Asked & { readonly stage: string }

/** Intervals as one parameter: rows of `prerelease`, `lower` and `upper`. */
const intervalsText = (intervals: readonly KeyInterval[]): string =>
  JSON.stringify(intervals.map(({ prerelease, from, to }) => ({ prerelease, lower: from, upper: to })))

/** `i`, which a statement begins with: the rows of the parameter, which is read once. */
const withIntervals = (q: Queries, p: Parameters<Asked>): RawBuilder<unknown> =>
  engineOf(q) === 'postgres'
    ? sql`with i as materialized (
        select * from json_to_recordset(${p('intervals')}::json) as i(prerelease bigint, lower text, upper text))`
    : sql`with i as materialized (
        select value ->> 'prerelease' as prerelease, value ->> 'lower' as lower, value ->> 'upper' as upper
        from json_each(${p('intervals')}))`

/**
 * Versions of the package in the interval `i`. (Without equality in the upper row, a repository that is alone would
 * count as empty.)
 */
const inInterval = (p: Parameters<PackageKey>): RawBuilder<unknown> => {
  const own = sql`${p('repository')}, ${p('groupKey')}, ${p('nameKey')}`
  const keys = sql`(v.repository, v.group_key, v.name_key, v.prerelease, v.version_key)`
  return sql`${keys} >= (${own}, i.prerelease, i.lower) and ${keys} <= (${own}, i.prerelease, i.upper)
    and v.version_key < i.upper`
}
const highestFirst = sql`v.repository desc, v.group_key desc, v.name_key desc, v.prerelease desc, v.version_key desc`

/** The same of those that have the stage. */
const inStagesInterval = (p: Parameters<AskedInStage>): RawBuilder<unknown> => {
  const own = sql`${p('repository')}, ${p('groupKey')}, ${p('nameKey')}, ${p('stage')}`
  const keys = sql`(v.repository, v.group_key, v.name_key, v.stage, v.prerelease, v.version_key)`
  return sql`${keys} >= (${own}, i.prerelease, i.lower) and ${keys} <= (${own}, i.prerelease, i.upper)
    and v.version_key < i.upper`
}
const ofStage = sql`v.repository desc, v.group_key desc, v.name_key desc, v.stage desc`
const highestOfStageFirst = sql`${ofStage}, v.prerelease desc, v.version_key desc`

/**
 * A version's key and its id as one text, so that the greatest of them tells both. A blank is below everything that a
 * key can go on with: text is in the order of the keys.
 */
const keyAndId = sql`v.version_key || ' ' || v.artifact_id`
/** Ids are UUIDs. */
const idOf = (q: Queries, text: RawBuilder<unknown>): RawBuilder<unknown> =>
  engineOf(q) === 'postgres' ? sql`right(${text}, 36)` : sql`substr(${text}, -36)`

const toldOfVersion = sql`p.artifact_id, p.group_name, p.name, p.version,
  a.name as file_name, a.sha256, a.size, a.published_at, ${stageNames(sql.ref('p.artifact_id'))} as stages`

const highest = prepareQuery<Asked, Chosen>(
  (q, p) => ({
    compile: () =>
      sql<Chosen>`${withIntervals(q, p)}
        select ${toldOfVersion}, null as promoted_at
        from packages as p join artifacts as a on a.id = p.artifact_id
        where p.artifact_id = ${idOf(
          q,
          sql`(select max((
            select ${keyAndId} from packages as v where ${inInterval(p)}
            order by ${highestFirst} limit 1
          )) from i)`,
        )}`.compile(q),
  }),
  { planned: 'once' },
)

/** The version with the id that `chosen` finds, and when it reached the stage. */
const inStage = (q: Queries, p: Parameters<AskedInStage>, chosen: RawBuilder<unknown>) =>
  sql<Chosen>`${withIntervals(q, p)}
    select ${toldOfVersion}, s.promoted_at
    from package_stages as s
    join packages as p on p.artifact_id = s.artifact_id
    join artifacts as a on a.id = s.artifact_id
    where s.stage = ${p('stage')} and s.artifact_id = ${idOf(q, chosen)}`.compile(q)

const highestInStage = prepareQuery<AskedInStage, Chosen>(
  (q, p) => ({
    compile: () =>
      inStage(
        q,
        p,
        sql`(select max((
          select ${keyAndId} from package_stages as v
          where ${inStagesInterval(p)} order by ${highestOfStageFirst} limit 1
        )) from i)`,
      ),
  }),
  { planned: 'once' },
)

/** The highest version in any of the intervals, of which there is one at least. */
export const findHighest = async (
  q: Queries,
  of: PackageKey,
  stage: string | null,
  intervals: readonly KeyInterval[],
): Promise<Chosen | undefined> => {
  const asked = { ...of, intervals: intervalsText(intervals) }
  const rows = await (stage === null ? highest(q, asked) : highestInStage(q, { ...asked, stage }))
  return rows[0]
}

/** Times of promotion are all as long as each other, so that the greatest of these is the last one. */
const timeKeyAndId = sql`v.promoted_at || v.version_key || ' ' || v.artifact_id`

/**
 * Few versions in the intervals: the last of them, all read. Many: one of them is soon met along the promotions, from
 * the last one back, unless they came before all others; then that is a walk through the promotions of the package to
 * the stage.
 */
const latestPromoted = prepareQuery<AskedInStage, Chosen>(
  (q, p) => {
    const own = sql`(${p('repository')}, ${p('groupKey')}, ${p('nameKey')}, ${p('stage')})`
    const keys = sql`(v.repository, v.group_key, v.name_key, v.stage)`
    const one = sql`(
      select ${timeKeyAndId} as place from package_stages as v where ${inStagesInterval(p)}
      order by ${highestOfStageFirst} limit ${sql.lit(promotedVersionsReadMax + 1)}) as few`
    const count = sql`(select sum((select count(*) from ${one})) from i)`
    const ofFew = sql`(select max((select max(few.place) from ${one})) from i)`
    const ofMany = sql`(select ${timeKeyAndId} from package_stages as v
      where ${keys} >= ${own} and ${keys} <= ${own} and exists (
        select 1 from i where v.prerelease = i.prerelease and v.version_key >= i.lower and v.version_key < i.upper)
      order by ${ofStage}, v.promoted_at desc, v.version_key desc limit 1)`
    const chosen = sql`(case when ${count} <= ${sql.lit(promotedVersionsReadMax)} then ${ofFew} else ${ofMany} end)`
    return { compile: () => inStage(q, p, chosen) }
  },
  { planned: 'once' },
)

/** The version in any of the intervals that reached the stage last; of those that did at once, the highest. */
export const findLatestPromoted = async (
  q: Queries,
  of: PackageKey,
  stage: string,
  intervals: readonly KeyInterval[],
): Promise<Chosen | undefined> => (await latestPromoted(q, { ...of, stage, intervals: intervalsText(intervals) }))[0]
