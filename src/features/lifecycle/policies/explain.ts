import type { Queries } from '../../../database/database.ts'
import { notFound } from '../../../kernel/failure.ts'
import { type Eligibility, eligibilityOf } from '../deletion/eligibility.ts'
import type { Blocker } from '../deletion/vocabulary.ts'
import { criteriaOf } from './age.ts'
import { lookAt } from './beyond.ts'
import { type Judgement, judge } from './judgement.ts'
import { policyOf, type SavedPolicy } from './policy.ts'
import { type PolicyTold, policyTold, type Reason, type Verdict, verdictOn } from './reasons.ts'
import { packageVersions } from './versions.ts'

export interface Explanation extends Verdict {
  readonly id: string
  readonly blockers: Blocker[]
  readonly policy: PolicyTold
}

/**
 * What the saved policy makes of a file, by the judgement that preview and runs go by. 404 for what is not published.
 */
export const explainArtifact = async (
  q: Queries,
  repository: string,
  id: string,
  nowMs: number,
): Promise<Explanation> => {
  const saved = await policyOf(q, repository)
  const rules = saved.policy
  const file = (await eligibilityOf(q, repository, [id], criteriaOf(rules, nowMs))).get(id)
  if (file === undefined) throw notFound('artifact')
  const policy = policyTold(saved)
  const look = lookAt(packageVersions(q, repository), rules, nowMs)
  const judgement = (await judge(q, repository, look, [id])).get(id)
  if (judgement !== undefined) return { id, ...explained(judgement, saved), policy }
  const text =
    'It is no package version. Storage policies delete nothing else; such files only count against the quota.'
  return {
    id,
    decision: 'not_covered',
    reasons: [{ code: 'not_a_package', text }],
    deletableAt: null,
    blockers: file.blockers,
    policy,
  }
}

const explained = ({ file, version, keptBy, oldEnoughAt }: Judgement, saved: SavedPolicy) => {
  const { group, name } = version
  return {
    ...verdictOn(
      {
        of: group === '' ? name : `${group}/${name}`,
        keptBy,
        oldEnough: file.oldEnough,
        oldEnoughAt,
        many: 'up to 100 such files',
        blocked: file.blockers.map((blocker) => blockerReason(blocker, file, saved.policy.protectedLabels)),
      },
      saved,
    ),
    blockers: file.blockers,
  }
}

const blockerReason = (blocker: Blocker, { labels }: Eligibility, protectedLabels: readonly string[]): Reason => {
  const borne = labels.filter((label) => protectedLabels.includes(label)).map((label) => `“${label}”`)
  const texts: Readonly<Record<Blocker, string>> = {
    reference: 'A reference says that it is in use; whoever set it can give it up.',
    asset_history: 'A path shows it or showed it.',
    attachment_history: 'It is or was attached to a build that is there.',
    protected_label: `It bears ${borne.join(', ')}, which the policy protects.`,
    promotion_stage: 'It has reached a stage, and keeps it until the stage is removed.',
  }
  return { code: blocker, text: texts[blocker] }
}
