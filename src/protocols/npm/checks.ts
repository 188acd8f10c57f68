import { release } from '../../content/claims/claims.ts'
import type { Database, Queries } from '../../database/database.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { damage, type Finding } from '../../kernel/finding.ts'
import { findingsMax } from '../../kernel/limits/upkeep.ts'
import {
  claimsWithoutVersion,
  documentsOfOtherStates,
  packagesMiscounted,
  stagesOfDeleted,
  tagsAtDeleted,
  versionsMisshown,
  versionsWithoutClaim,
} from './checks.queries.ts'

type Look = readonly [find: (q: Queries, limit: number) => Promise<string[]>, say: (what: string) => string]

const looks: readonly Look[] = [
  [versionsWithoutClaim, (version) => `the npm version ${version} has no claim on its tarball that is as it is`],
  [packagesMiscounted, (name) => `the npm package ${name} is not said to have the versions that it has`],
  [versionsMisshown, (version) => `the npm version ${version} is not shown as it should be in its documents`],
  [tagsAtDeleted, (tag) => `the tag of npm ${tag} is at a version that was deleted`],
  [stagesOfDeleted, (stage) => `the stage ${stage}, which was deleted`],
  [documentsOfOtherStates, (name) => `the documents of the npm package ${name} are of another state than it is in`],
]

/** Proves that versions have their tarballs, and that documents show what is there. */
export async function* checkNpmPackages(deps: { database: Database; clock: Clock }): AsyncGenerator<Finding> {
  const { database, clock } = deps
  const q = database.reader
  for (const { id, repository, state } of await claimsWithoutVersion(q, findingsMax)) {
    const giveUp = async (): Promise<void> => {
      await database.transaction((tx) => release(tx, id, timestamp(clock.now())))
    }
    const text = `the claim ${id} has no holder: neither an npm version nor an upload that is under way`
    yield damage(`repository ${repository}: ${text}`, state === 'live' ? null : giveUp)
  }
  for (const [find, say] of looks) for (const what of await find(q, findingsMax)) yield damage(say(what))
}
