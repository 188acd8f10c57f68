import { release } from '../../content/claims/claims.ts'
import type { Database } from '../../database/database.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { damage, type Finding } from '../../kernel/finding.ts'
import { findingsMax } from '../../kernel/limits/upkeep.ts'
import { claimsWithoutObject, objectsWithoutClaim } from './checks.queries.ts'

/** Proves that objects of Git LFS have their bytes, and that nothing else has what is counted as theirs. */
export async function* checkLfsObjects(deps: { database: Database; clock: Clock }): AsyncGenerator<Finding> {
  const { database, clock } = deps
  const q = database.reader
  for (const { repository, sha256 } of await objectsWithoutClaim(q, findingsMax))
    yield damage(`repository ${repository}: the object ${sha256} of Git LFS has no claim on its bytes that fits it`)
  for (const { id, repository, state } of await claimsWithoutObject(q, findingsMax)) {
    const giveUp = async (): Promise<void> => {
      await database.transaction((tx) => release(tx, id, timestamp(clock.now())))
    }
    const text = `the claim ${id} has no holder: neither an object of Git LFS nor an upload that is under way`
    yield damage(`repository ${repository}: ${text}`, state === 'live' ? null : giveUp)
  }
}
