import type { Queries } from '../../../database/database.ts'
import { criteriaOf, oldEnoughAt } from '../../../features/lifecycle/policies/age.ts'
import type { Look } from '../../../features/lifecycle/policies/beyond.ts'
import type { KeepScope } from '../../../features/lifecycle/policies/cutoffs.ts'
import type { UnwantedImage } from '../../../features/lifecycle/policies/kept-kinds.ts'
import { type ImageBlocker, imageBlockers } from '../../../features/lifecycle/policies/vocabulary.ts'
import { stagedAmong } from '../staged.queries.ts'
import { countedAmong, type Image } from './counted.queries.ts'
import { borneLabels } from './counted.ts'
import { immutableTagsOf } from './immutable-tags.ts'

/** What a policy makes of an image. It may go when nothing here keeps it. */
export interface ImageJudgement extends UnwantedImage {
  /** The scopes that keep it by count. */
  readonly keptBy: readonly KeepScope[]
  readonly oldEnough: boolean
  /** From when on it is. */
  readonly oldEnoughAt: string
  readonly blockers: readonly ImageBlocker[]
  /** The labels and patterns of policy and repository that its tags match. */
  readonly labels: readonly string[]
}

/**
 * Judges manifests by a policy; what does not count as an image is left out. Preview, run, schedule and explanation all
 * ask this and nothing else, so that none of them can say what another does not do.
 */
export const judgeImages = async (
  q: Queries,
  repository: string,
  { rules, cutoffs, nowMs }: Look<Image>,
  ids: readonly string[],
): Promise<Map<string, ImageJudgement>> => {
  const judged = new Map<string, ImageJudgement>()
  if (ids.length === 0) return judged
  const { patterns } = await immutableTagsOf(q, repository)
  const wanted = new Set([...rules.channels.map(({ label }) => label), ...rules.protectedLabels, ...patterns])
  const borne = await borneLabels(q, ids, [...wanted])
  const staged = await stagedAmong(q, ids)
  const { publishedBefore, protectedLabels } = criteriaOf(rules, nowMs)
  for (const { id, name, digest, tagged_at } of await countedAmong(q, repository, ids)) {
    const labels = borne.get(id) ?? []
    const stands: Record<ImageBlocker, boolean> = {
      protected_label: protectedLabels.some((label) => labels.includes(label)),
      immutable_tag: patterns.some((pattern) => labels.includes(pattern)),
      promotion_stage: staged.has(id),
    }
    judged.set(id, {
      ...{ id, image: name, digest, taggedAt: tagged_at, labels },
      keptBy: await cutoffs.keeping({ name }, { at: tagged_at, id }, labels),
      oldEnough: tagged_at < publishedBefore,
      oldEnoughAt: oldEnoughAt(tagged_at, rules),
      blockers: imageBlockers.filter((blocker) => stands[blocker]),
    })
  }
  return judged
}

/** Whether a policy would delete it now. */
export const mayGo = ({ keptBy, oldEnough, blockers }: ImageJudgement): boolean =>
  keptBy.length === 0 && oldEnough && blockers.length === 0
