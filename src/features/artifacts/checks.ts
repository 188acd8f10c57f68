import type { Queries } from '../../database/database.ts'
import { damage, type Finding } from '../../kernel/finding.ts'
import { findingsMax } from '../../kernel/limits.ts'
import { artifactsWithoutClaim, claimsWithoutHolder } from './artifacts.queries.ts'

/** Proves that published files and their claims are the same set. */
export async function* checkArtifacts(q: Queries): AsyncGenerator<Finding> {
  for (const { id, repository } of await artifactsWithoutClaim(q, findingsMax))
    yield damage(`repository ${repository}: artifact ${id} is published without a live claim on its bytes`)
  for (const { id, repository } of await claimsWithoutHolder(q, findingsMax))
    yield damage(
      `repository ${repository}: the claim ${id} has no holder: neither an artifact nor an upload that is under way`,
    )
}
