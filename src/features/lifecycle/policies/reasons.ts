import type { KeepScope } from './cutoffs.ts'
import type { SavedPolicy } from './policy.ts'

/** Why something stays or would go, for programs by its code and for people by its sentence. */
export interface Reason {
  readonly code: string
  readonly text: string
}

/** What a policy makes of a thing. */
export interface Verdict {
  readonly decision: 'not_covered' | 'kept' | 'deletable'
  readonly reasons: Reason[]
  /** From when on age alone no longer keeps it; null while something does that time does not end. */
  readonly deletableAt: string | null
}

/** The policy that was asked. */
export interface PolicyTold {
  readonly revision: number
  readonly enabled: boolean
  readonly nextRunAt: string | null
}

export const policyTold = ({ revision, policy, nextRunAt }: SavedPolicy): PolicyTold => ({
  revision,
  enabled: policy.enabled,
  nextRunAt,
})

/** What whoever may not read the policy is told: whether the thing stays, and nothing of why. */
export const decisionOnly = ({ decision }: Verdict) => {
  const goes = decision === 'deletable'
  const text = `${goes ? 'A run of the storage policy would delete it.' : 'It is kept.'} The reasons need storage.read.`
  return {
    decision: goes ? ('deletable' as const) : ('kept' as const),
    reasons: [{ code: goes ? 'deletable' : 'kept', text }],
    deletableAt: null,
    blockers: [],
    policy: null,
  }
}

/** All that a policy looks at in a thing. */
interface Judged {
  /** The package or image that it is counted in. */
  readonly of: string
  readonly keptBy: readonly KeepScope[]
  readonly oldEnough: boolean
  readonly oldEnoughAt: string
  /** What a run deletes of its like, in words. */
  readonly many: string
  /** What keeps it whatever its age and number are. */
  readonly blocked: readonly Reason[]
}

/** Says why a thing that a policy counts stays, or goes. */
export const verdictOn = (judged: Judged, saved: SavedPolicy): Verdict => {
  const { of, keptBy, oldEnough, oldEnoughAt, many, blocked } = judged
  const kept = [
    ...keptBy.map((scope) => countReason(scope, saved.policy.grouping, of)),
    ...(oldEnough ? [] : [ageReason(saved.policy.minAgeHours, oldEnoughAt)]),
    ...blocked,
  ]
  return {
    decision: kept.length === 0 ? 'deletable' : 'kept',
    reasons: kept.length === 0 ? [goesReason(many, saved)] : kept,
    deletableAt: keptBy.length === 0 && blocked.length === 0 ? oldEnoughAt : null,
  }
}

const countReason = (
  { of, label, keepLast }: KeepScope,
  grouping: SavedPolicy['policy']['grouping'],
  name: string,
): Reason => {
  const where = grouping === 'repository' ? 'the repository' : name
  const newest = `among the newest ${keepLast} of ${where}`
  if (of === 'channel') return { code: 'newest_in_channel', text: `It is ${newest} with the label “${label}”.` }
  if (of === 'no-channel') return { code: 'newest_without_channel', text: `It is ${newest} without a channel’s label.` }
  return { code: grouping === 'repository' ? 'newest_in_repository' : 'newest_in_package', text: `It is ${newest}.` }
}

const ageReason = (minAgeHours: number, until: string): Reason => ({
  code: 'too_young',
  text: `It has to be older than ${minAgeHours} ${minAgeHours === 1 ? 'hour' : 'hours'}, which it is at ${until}.`,
})

const goesReason = (many: string, { policy, nextRunAt }: SavedPolicy): Reason => {
  const beyond = 'Nothing keeps it: it is old enough and beyond every count of the policy.'
  if (!policy.enabled) return { code: 'policy_disabled', text: `${beyond} The policy is disabled and deletes nothing.` }
  const when =
    nextRunAt === null ? 'The schedule has stopped; a run by hand' : `A run by hand, or the one at ${nextRunAt},`
  return { code: 'beyond_count', text: `${beyond} ${when} deletes ${many}.` }
}
