import type { Queries } from '../../../database/database.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { hour } from '../../../kernel/units.ts'
import { type Eligibility, eligibilityOf } from '../deletion/eligibility.ts'
import { type Cutoffs, isOlder, type KeepScope, scopesAround } from './cutoffs.ts'
import { findVersions } from './versions.queries.ts'
import type { KeepRules } from './vocabulary.ts'

/** What a policy makes of a package version. It may go when nothing here keeps it. */
export interface Judgement {
  readonly file: Eligibility
  readonly version: { readonly group: string; readonly name: string; readonly version: string }
  /** The scopes that keep it by count. */
  readonly keptBy: readonly KeepScope[]
  /** From when on it is old enough. */
  readonly oldEnoughAt: string
}

/** A file has to be older than the hours that a policy names, and was published at the full millisecond. */
const oldEnoughAt = (publishedAt: string, { minAgeHours }: KeepRules): string =>
  timestamp(Date.parse(publishedAt) + minAgeHours * hour + 1)

/** What a policy asks of each file by itself, as the deletion checks it. */
export const criteriaOf = ({ minAgeHours, protectedLabels }: KeepRules, nowMs: number) => ({
  publishedBefore: timestamp(nowMs - minAgeHours * hour),
  protectedLabels,
})

/**
 * Judges package versions by a policy; what is no published package version is left out. Preview, run, schedule and
 * explanation all ask this and nothing else, so that none of them can say what another does not do.
 */
export const judge = async (
  q: Queries,
  repository: string,
  { rules, cutoffs, nowMs }: { readonly rules: KeepRules; readonly cutoffs: Cutoffs; readonly nowMs: number },
  ids: readonly string[],
): Promise<Map<string, Judgement>> => {
  const judged = new Map<string, Judgement>()
  if (ids.length === 0) return judged
  const files = await eligibilityOf(q, repository, ids, criteriaOf(rules, nowMs))
  for (const found of await findVersions(q, repository, ids)) {
    const file = files.get(found.artifact_id)
    if (file === undefined) continue
    const group = rules.grouping === 'repository' ? 'repository' : found
    const scopes = scopesAround(rules, file.labels)
    const ends = await cutoffs.of(group, scopes)
    const keptBy = scopes.filter((_, at) => {
      const cutoff = ends[at] ?? null
      return cutoff === null || !isOlder(found, cutoff)
    })
    judged.set(found.artifact_id, {
      file,
      version: { group: found.group_name, name: found.name, version: found.version },
      keptBy,
      oldEnoughAt: oldEnoughAt(file.row.published_at, rules),
    })
  }
  return judged
}

/** Whether a policy would delete it now. */
export const mayGo = ({ file, keptBy }: Judgement): boolean =>
  keptBy.length === 0 && file.oldEnough && file.blockers.length === 0
