import type { Queries } from '../../../database/database.ts'
import type { Look } from '../../../features/lifecycle/policies/beyond.ts'
import { type JudgedThing, judgeThings } from '../../../features/lifecycle/policies/kept-kinds.ts'
import { type NpmVersionBlocker, npmVersionBlockers } from '../../../features/lifecycle/policies/vocabulary.ts'
import { type CountedPackage, npmStagedAmong, npmVersionsAmong } from './counted.queries.ts'
import { labelsAmong, tagsOfEach } from './counted.ts'

/**
 * Judges npm versions by a policy; what is not there any more is left out. Preview, run, schedule and explanation all
 * ask this and nothing else, so that none of them can say what another does not do.
 */
export const judgeNpmVersions = async (
  q: Queries,
  repository: string,
  look: Look<CountedPackage>,
  ids: readonly string[],
): Promise<Map<string, JudgedThing>> => {
  if (ids.length === 0) return new Map()
  const { channels, protectedLabels } = look.rules
  const wanted = [...new Set([...channels.map(({ label }) => label), ...protectedLabels])]
  const tags = await tagsOfEach(q, ids)
  const staged = await npmStagedAmong(q, ids)
  const rows = await npmVersionsAmong(q, repository, ids)
  const known = rows.map(({ id, name, version, published_at }) => {
    const own = tags.get(id) ?? []
    const labels = labelsAmong(wanted, own)
    const stands: Record<NpmVersionBlocker, boolean> = {
      protected_label: protectedLabels.some((label) => labels.includes(label)),
      dist_tag: own.length > 0,
      promotion_stage: staged.has(id),
    }
    return {
      ...{ id, group: name, called: version, at: published_at, counted: { name }, labels },
      blockers: npmVersionBlockers.filter((blocker) => stands[blocker]),
    }
  })
  return await judgeThings(look, known)
}
