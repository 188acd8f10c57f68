import { valid } from 'semver'
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
import { type NpmVersionBlocker, npmVersionBlockers } from '../../../features/lifecycle/policies/vocabulary.ts'
import { findVersion } from '../packages.queries.ts'
import { versionUnknown } from '../refusals.ts'
import { publishedVersions, tagsOfEach } from './counted.ts'
import { judgeNpmVersions } from './judgement.ts'

export interface NpmVersionExplanation extends Verdict {
  readonly package: string
  readonly version: string
  readonly blockers: NpmVersionBlocker[]
  readonly policy: PolicyTold
}

/** What the saved policy makes of a version, by the judgement that preview and runs go by. 404 without one. */
export const explainNpmVersion = async (
  q: Queries,
  { repository, name, called }: { readonly repository: string; readonly name: string; readonly called: string },
  nowMs: number,
): Promise<NpmVersionExplanation> => {
  const saved = await policyOf(q, repository)
  const found = await findVersion(q, { repository, name }, valid(called) ?? called)
  const look = lookAt(publishedVersions(q, repository), saved.policy, nowMs)
  const judgement =
    found === undefined ? undefined : (await judgeNpmVersions(q, repository, look, [found.id])).get(found.id)
  if (judgement === undefined) throw versionUnknown(name, called)
  const tags = (await tagsOfEach(q, [judgement.id])).get(judgement.id) ?? []
  const bears = saved.policy.protectedLabels.filter((label) => judgement.labels.includes(label))
  const texts: Readonly<Record<NpmVersionBlocker, string>> = {
    protected_label: `A tag of it matches ${quoted(bears)}, which the policy protects.`,
    dist_tag: `Clients install it by ${quoted(tags)}.`,
    promotion_stage: 'It has reached a stage, and keeps it until the stage is removed.',
  }
  const blockers = npmVersionBlockers.filter((blocker) => judgement.blockers.includes(blocker))
  const blocked = blockers.map((code): Reason => ({ code, text: texts[code] }))
  const verdict = verdictOn({ ...judgement, of: name, many: 'such versions', blocked }, saved)
  return { package: name, version: judgement.called, ...verdict, blockers, policy: policyTold(saved) }
}

const quoted = (labels: readonly string[]): string => labels.map((label) => `“${label}”`).join(', ')
