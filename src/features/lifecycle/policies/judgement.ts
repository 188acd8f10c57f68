import type { Queries } from '../../../database/database.ts'
import { type Eligibility, eligibilityOf } from '../deletion/eligibility.ts'
import { criteriaOf, oldEnoughAt } from './age.ts'
import type { Look } from './beyond.ts'
import type { KeepScope } from './cutoffs.ts'
import { findVersions, type Package } from './versions.queries.ts'

/** What a policy makes of a package version. It may go when nothing here keeps it. */
export interface Judgement {
  readonly file: Eligibility
  readonly version: { readonly group: string; readonly name: string; readonly version: string }
  /** The scopes that keep it by count. */
  readonly keptBy: readonly KeepScope[]
  /** From when on it is old enough. */
  readonly oldEnoughAt: string
}

/**
 * Judges package versions by a policy; what is no published package version is left out. Preview, run, schedule and
 * explanation all ask this and nothing else, so that none of them can say what another does not do.
 */
export const judge = async (
  q: Queries,
  repository: string,
  { rules, cutoffs, nowMs }: Look<Package>,
  ids: readonly string[],
): Promise<Map<string, Judgement>> => {
  const judged = new Map<string, Judgement>()
  if (ids.length === 0) return judged
  const files = await eligibilityOf(q, repository, ids, criteriaOf(rules, nowMs))
  for (const found of await findVersions(q, repository, ids)) {
    const file = files.get(found.artifact_id)
    if (file === undefined) continue
    const position = { at: found.published_at, id: found.artifact_id }
    const keptBy = await cutoffs.keeping(found, position, file.labels)
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
