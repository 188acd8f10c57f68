import type { Queries } from '../../../database/database.ts'
import { damage, type Finding } from '../../../kernel/finding.ts'
import { findingsMax } from '../../../kernel/limits/upkeep.ts'
import { policiesOnNobodysAuthority } from './policy.queries.ts'

/** Proves that a policy deletes on somebody's authority while it is enabled, and is not due while it is not. */
export async function* checkPolicies(q: Queries): AsyncGenerator<Finding> {
  for (const { repository, enabled } of await policiesOnNobodysAuthority(q, findingsMax))
    yield damage(
      `repository ${repository}: its storage policy is ${enabled === 1 ? 'enabled on the authority of no key' : 'disabled, and has a key or a next run'}`,
    )
}
