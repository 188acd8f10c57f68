import type { Queries } from '../../../database/database.ts'
import type { Look } from '../../../features/lifecycle/policies/beyond.ts'
import { type JudgedThing, judgeThings } from '../../../features/lifecycle/policies/kept-kinds.ts'
import { type ImageBlocker, imageBlockers } from '../../../features/lifecycle/policies/vocabulary.ts'
import { stagedAmong } from '../staged.queries.ts'
import { countedAmong, type Image } from './counted.queries.ts'
import { borneLabels } from './counted.ts'
import { immutableTagsOf } from './immutable-tags.ts'

/**
 * Judges manifests by a policy; what does not count as an image is left out. Preview, run, schedule and explanation all
 * ask this and nothing else, so that none of them can say what another does not do.
 */
export const judgeImages = async (
  q: Queries,
  repository: string,
  look: Look<Image>,
  ids: readonly string[],
): Promise<Map<string, JudgedThing>> => {
  if (ids.length === 0) return new Map()
  const { channels, protectedLabels } = look.rules
  const { patterns } = await immutableTagsOf(q, repository)
  const wanted = new Set([...channels.map(({ label }) => label), ...protectedLabels, ...patterns])
  const borne = await borneLabels(q, ids, [...wanted])
  const staged = await stagedAmong(q, ids)
  const rows = await countedAmong(q, repository, ids)
  const known = rows.map(({ id, name, digest, tagged_at }) => {
    const labels = borne.get(id) ?? []
    const stands: Record<ImageBlocker, boolean> = {
      protected_label: protectedLabels.some((label) => labels.includes(label)),
      immutable_tag: patterns.some((pattern) => labels.includes(pattern)),
      promotion_stage: staged.has(id),
    }
    return {
      ...{ id, group: name, called: digest, at: tagged_at, counted: { name }, labels },
      blockers: imageBlockers.filter((blocker) => stands[blocker]),
    }
  })
  return await judgeThings(look, known)
}
