import { release } from '../../../content/claims/claims.ts'
import type { Database } from '../../../database/database.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { damage, type Finding } from '../../../kernel/finding.ts'
import { findingsMax } from '../../../kernel/limits/upkeep.ts'
import {
  artifactsWithoutClaim,
  claimsWithoutHolder,
  deletedBesideClaim,
  deletedWithoutClaim,
} from './artifacts.queries.ts'

/** Proves that published files and their claims are the same set. */
export async function* checkArtifacts(deps: { database: Database; clock: Clock }): AsyncGenerator<Finding> {
  const { database, clock } = deps
  for (const { id, repository } of await artifactsWithoutClaim(database.reader, findingsMax))
    yield damage(`repository ${repository}: artifact ${id} is published without a live claim on its bytes`)
  for (const { id, repository } of await deletedWithoutClaim(database.reader, findingsMax))
    yield damage(`repository ${repository}: the deleted artifact ${id} cannot be brought back: it claims nothing`)
  for (const { id, repository } of await deletedBesideClaim(database.reader, findingsMax))
    yield damage(`repository ${repository}: the deleted artifact ${id} is not what its claim says`)
  for (const { id, repository, state } of await claimsWithoutHolder(database.reader, findingsMax)) {
    // What is live may be all that is left of a file: that is for a person to decide.
    const giveUp = async (): Promise<void> => {
      await database.transaction((tx) => release(tx, id, timestamp(clock.now())))
    }
    const mend = state === 'live' ? null : giveUp
    const text = `the claim ${id} has no holder: neither an artifact nor an upload that is under way`
    yield damage(`repository ${repository}: ${text}`, mend)
  }
}
