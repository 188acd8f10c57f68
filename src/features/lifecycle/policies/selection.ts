import { setImmediate as nextRound } from 'node:timers/promises'
import type { Queries } from '../../../database/database.ts'
import { retentionItemsMax } from '../../../kernel/limits/lifecycle.ts'
import type { Eligibility } from '../deletion/eligibility.ts'
import { beyondCutoffs, lookAt } from './beyond.ts'
import { judge, mayGo } from './judgement.ts'
import { packageVersions } from './versions.ts'
import type { KeepRules } from './vocabulary.ts'

/** What a policy would delete now: as many files as one run deletes, and whether there is more. */
export interface Selection {
  readonly files: Eligibility[]
  readonly hasMore: boolean
}

/**
 * Looks for the package versions that a policy would delete, the oldest of each package first. Each that is beyond the
 * lines is judged.
 */
export const select = async (q: Queries, repository: string, rules: KeepRules, nowMs: number): Promise<Selection> => {
  const files: Eligibility[] = []
  const look = lookAt(packageVersions(q, repository), rules, nowMs)
  for await (const ids of beyondCutoffs(look)) {
    for (const judgement of (await judge(q, repository, look, ids)).values()) {
      if (!mayGo(judgement)) continue
      if (files.length === retentionItemsMax) return { files, hasMore: true }
      files.push(judgement.file)
    }
    await nextRound()
  }
  return { files, hasMore: false }
}
