import type { Queries } from '../../../database/database.ts'
import { damage, type Finding } from '../../../kernel/finding.ts'
import { findingsMax } from '../../../kernel/limits/upkeep.ts'
import {
  assetsBesideHistory,
  besideOldest,
  impossibleRevisions,
  removedAtNoTime,
  removedBesideHistory,
} from './checks.queries.ts'

/**
 * Proves that each path shows the newest revision of its history, or none because that removed it, and where histories
 * begin; and that each revision could follow the one before.
 */
export async function* checkAssets(q: Queries): AsyncGenerator<Finding> {
  for (const { repository, path } of await assetsBesideHistory(q, findingsMax))
    yield damage(`repository ${repository}: ${JSON.stringify(path)} does not show the newest revision of its history`)
  for (const { repository, path } of await removedBesideHistory(q, findingsMax))
    yield damage(
      `repository ${repository}: ${JSON.stringify(path)} was removed, and its history does not end with that`,
    )
  for (const table of ['assets', 'removed_paths'] as const)
    for (const { repository, path } of await besideOldest(q, table, findingsMax))
      yield damage(`repository ${repository}: the oldest revisions of ${JSON.stringify(path)} are missing`)
  for (const { repository, path, revision } of await impossibleRevisions(q, findingsMax))
    yield damage(`repository ${repository}: revision ${revision} of ${JSON.stringify(path)} cannot have come about`)
  for (const { repository, path } of await removedAtNoTime(q, findingsMax))
    yield damage(`repository ${repository}: it is not known when ${JSON.stringify(path)} was removed`)
}
