import type { Queries } from '../../../database/database.ts'
import { damage, type Finding } from '../../../kernel/finding.ts'
import { findingsMax } from '../../../kernel/limits/upkeep.ts'
import { assetsBesideHistory } from './assets.queries.ts'

/** Proves that each path shows the newest revision of its history. */
export async function* checkAssets(q: Queries): AsyncGenerator<Finding> {
  for (const { repository, path } of await assetsBesideHistory(q, findingsMax))
    yield damage(`repository ${repository}: ${JSON.stringify(path)} does not show the newest revision of its history`)
}
