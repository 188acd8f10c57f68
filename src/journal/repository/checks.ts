import type { Queries } from '../../database/database.ts'
import { damage, type Finding } from '../../kernel/finding.ts'
import { findingsMax } from '../../kernel/limits/upkeep.ts'
import { brokenJournals, cursorsBeyondHead, eventsBesideHead, linesInGaps, securityHead } from './checks.queries.ts'

/**
 * Proves that the lines of each journal go to its head without gaps but those of restores, and that no consumer is
 * beyond it.
 */
export async function* checkJournals(q: Queries): AsyncGenerator<Finding> {
  for (const { id, first, last, lines, head } of await brokenJournals(q, findingsMax))
    yield damage(
      `repository ${id}: the journal has ${lines} lines from ${first} to ${last}, and its counter stands at ${head}`,
    )
  for (const { repository, sequence } of await linesInGaps(q, findingsMax))
    yield damage(`repository ${repository}: the journal has the line ${sequence}, which a restore passed over`)
  for (const { repository, name, sequence, head } of await cursorsBeyondHead(q, findingsMax))
    yield damage(`repository ${repository}: ${name} has come to ${sequence} of a journal that ends with ${head}`)
  for (const { id, last, head } of await eventsBesideHead(q, findingsMax))
    yield damage(`repository ${id}: the storage events go to ${last}, and their counter stands at ${head}`)
  const { last, lines, first, head } = await securityHead(q)
  if (lines > 0 && (last !== head || last - first + 1 !== lines))
    yield damage(`the security audit has ${lines} lines from ${first} to ${last}, and its counter stands at ${head}`)
}
