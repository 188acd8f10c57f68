import type { Queries } from '../../../database/database.ts'
import { notFound } from '../../../kernel/failure.ts'
import { type Eligibility, eligibilityOf } from '../deletion/eligibility.ts'
import type { Blocker } from '../deletion/vocabulary.ts'
import { Cutoffs, type KeepScope } from './cutoffs.ts'
import { criteriaOf, type Judgement, judge, mayGo } from './judgement.ts'
import { policyOf, type SavedPolicy } from './policy.ts'

/** Why something stays or would go, for programs by its code and for people by its sentence. */
interface Reason {
  readonly code: string
  readonly text: string
}

export interface Explanation {
  readonly id: string
  readonly decision: 'not_covered' | 'kept' | 'deletable'
  readonly reasons: Reason[]
  /** From when on age alone no longer keeps it; null while something does that time does not end. */
  readonly deletableAt: string | null
  readonly blockers: Blocker[]
  /** Null where only the decision is told. */
  readonly policy: { readonly revision: number; readonly enabled: boolean; readonly nextRunAt: string | null } | null
}

/** What whoever may not read the policy is told: whether the file stays, and nothing of why. */
export const decisionOnly = ({ id, decision }: Explanation): Explanation => {
  const goes = decision === 'deletable'
  const text = `${goes ? 'A run of the storage policy would delete it.' : 'It is kept.'} The reasons need storage.read.`
  return {
    id,
    decision: goes ? 'deletable' : 'kept',
    reasons: [{ code: goes ? 'deletable' : 'kept', text }],
    deletableAt: null,
    blockers: [],
    policy: null,
  }
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
  const policy = { revision: saved.revision, enabled: rules.enabled, nextRunAt: saved.nextRunAt }
  const by = { rules, cutoffs: new Cutoffs(q, repository, rules), nowMs }
  const judgement = (await judge(q, repository, by, [id])).get(id)
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

const explained = (judgement: Judgement, saved: SavedPolicy) => {
  const { file, keptBy, oldEnoughAt } = judgement
  const kept = [
    ...keptBy.map((scope) => countReason(scope, saved.policy.grouping, judgement)),
    ...(file.oldEnough ? [] : [ageReason(saved.policy.minAgeHours, oldEnoughAt)]),
    ...file.blockers.map((blocker) => blockerReason(blocker, file, saved.policy.protectedLabels)),
  ]
  const goes = mayGo(judgement)
  return {
    decision: goes ? ('deletable' as const) : ('kept' as const),
    reasons: goes ? [goesReason(saved)] : kept,
    deletableAt: keptBy.length === 0 && file.blockers.length === 0 ? oldEnoughAt : null,
    blockers: file.blockers,
  }
}

const countReason = (
  { of, label, keepLast }: KeepScope,
  grouping: SavedPolicy['policy']['grouping'],
  { version: { group, name } }: Judgement,
): Reason => {
  const full = group === '' ? name : `${group}/${name}`
  const where = grouping === 'repository' ? 'the repository' : full
  const newest = `among the newest ${keepLast} of ${where}`
  if (of === 'channel') return { code: 'newest_in_channel', text: `It is ${newest} with the label “${label}”.` }
  if (of === 'no-channel') return { code: 'newest_without_channel', text: `It is ${newest} without a channel’s label.` }
  return { code: grouping === 'repository' ? 'newest_in_repository' : 'newest_in_package', text: `It is ${newest}.` }
}

const ageReason = (minAgeHours: number, until: string): Reason => ({
  code: 'too_young',
  text: `It has to be older than ${minAgeHours} ${minAgeHours === 1 ? 'hour' : 'hours'}, which it is at ${until}.`,
})

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

const goesReason = ({ policy, nextRunAt }: SavedPolicy): Reason => {
  const beyond = 'Nothing keeps it: it is old enough and beyond every count of the policy.'
  if (!policy.enabled) return { code: 'policy_disabled', text: `${beyond} The policy is disabled and deletes nothing.` }
  const when =
    nextRunAt === null ? 'The schedule has stopped; a run by hand' : `A run by hand, or the one at ${nextRunAt},`
  return { code: 'beyond_count', text: `${beyond} ${when} deletes up to 100 such files.` }
}
