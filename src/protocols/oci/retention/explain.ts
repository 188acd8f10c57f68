import type { Queries } from '../../../database/database.ts'
import { lookAt } from '../../../features/lifecycle/policies/beyond.ts'
import { policyOf } from '../../../features/lifecycle/policies/policy.ts'
import {
  type PolicyTold,
  policyTold,
  type Reason,
  type Verdict,
  verdictOn,
} from '../../../features/lifecycle/policies/reasons.ts'
import { type ImageBlocker, imageBlockers } from '../../../features/lifecycle/policies/vocabulary.ts'
import { manifestAt } from '../lookup.ts'
import { taggedImages } from './counted.ts'
import { immutableTagsOf } from './immutable-tags.ts'
import { judgeImages } from './judgement.ts'

export interface ImageExplanation extends Verdict {
  readonly image: string
  readonly digest: string
  readonly blockers: ImageBlocker[]
  readonly policy: PolicyTold
}

/** What the saved policy makes of an image, by the judgement that preview and runs go by. 404 without one. */
export const explainImage = async (
  q: Queries,
  { repository, image, reference }: { readonly repository: string; readonly image: string; readonly reference: string },
  nowMs: number,
): Promise<ImageExplanation> => {
  const saved = await policyOf(q, repository)
  const { manifest } = await manifestAt(q, { repository, name: image }, reference)
  const look = lookAt(taggedImages(q, repository), saved.policy, nowMs)
  const judgement = (await judgeImages(q, repository, look, [manifest.id])).get(manifest.id)
  const told = { image, digest: manifest.digest, policy: policyTold(saved) }
  if (judgement === undefined)
    return { ...told, decision: 'not_covered', reasons: [notCounted], deletableAt: null, blockers: [] }
  const { labels } = judgement
  const blockers = imageBlockers.filter((blocker) => judgement.blockers.includes(blocker))
  const { patterns } = await immutableTagsOf(q, repository)
  const which = (of: readonly string[]): string =>
    of
      .filter((label) => labels.includes(label))
      .map(quoted)
      .join(', ')
  const texts: Readonly<Record<ImageBlocker, string>> = {
    protected_label: `A tag of it matches ${which(saved.policy.protectedLabels)}, which the policy protects.`,
    immutable_tag: `A tag of it matches ${which(patterns)}, which the repository has among its immutable tags.`,
    promotion_stage: 'It has reached a stage, and keeps it until the stage is removed.',
  }
  const blocked = blockers.map((code): Reason => ({ code, text: texts[code] }))
  const verdict = verdictOn({ ...judgement, of: image, many: 'such images', blocked }, saved)
  return { ...told, ...verdict, blockers }
}

const quoted = (label: string): string => `“${label}”`

const notCounted: Reason = {
  code: 'not_counted',
  text: 'It is no image by itself: no tag is at it, an index lists it, or it refers to a manifest that is here. It stays and goes with what keeps it.',
}
