import type { Database, Queries } from '../../../database/database.ts'
import { damage, type Finding } from '../../../kernel/finding.ts'
import { findingsMax } from '../../../kernel/limits/upkeep.ts'
import { cachedWithoutClaim, documentsMiscounted } from './checks.queries.ts'

type Look = readonly [find: (q: Queries, limit: number) => Promise<string[]>, say: (what: string) => string]

const looks: readonly Look[] = [
  [cachedWithoutClaim, (version) => `the npm version ${version} of an upstream has no live claim that is as it is`],
  [
    documentsMiscounted,
    (name) => `the document of the npm package ${name} of an upstream has another size than is said`,
  ],
]

/** Proves that what came from upstreams is there. */
export async function* checkUpstreams({ database }: { readonly database: Database }): AsyncGenerator<Finding> {
  for (const [find, say] of looks) for (const what of await find(database.reader, findingsMax)) yield damage(say(what))
}
