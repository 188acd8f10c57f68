import { setImmediate as nextRound } from 'node:timers/promises'
import type { Queries } from '../../../database/database.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { retentionItemsMax, versionsCountedPage } from '../../../kernel/limits/lifecycle.ts'
import type { Eligibility } from '../deletion/eligibility.ts'
import { Cutoffs, isOlder, scopesOf } from './cutoffs.ts'
import { criteriaOf, judge, mayGo } from './judgement.ts'
import { countVersions, type Group, oldestVersions, type Position } from './versions.queries.ts'
import type { KeepRules } from './vocabulary.ts'

/** What a policy would delete now: as many as one run deletes, and whether there is more. */
export interface Selection {
  readonly files: Eligibility[]
  readonly hasMore: boolean
}

/**
 * Looks for what a policy would delete, the oldest of each group first. Reads pages from indexes: one that counts the
 * versions of packages, and from groups that have more than they keep, those beyond the lines. Each of them is judged.
 * After each group and batch others get their turn, since SQLite answers at once.
 */
export const select = async (q: Queries, repository: string, rules: KeepRules, nowMs: number): Promise<Selection> => {
  const files: Eligibility[] = []
  const by = { rules, cutoffs: new Cutoffs(q, repository, rules), nowMs }
  for await (const ids of beyondCutoffs(q, repository, by)) {
    for (const judgement of (await judge(q, repository, by, ids)).values()) {
      if (!mayGo(judgement)) continue
      if (files.length === retentionItemsMax) return { files, hasMore: true }
      files.push(judgement.file)
    }
    await nextRound()
  }
  return { files, hasMore: false }
}

interface By {
  readonly rules: KeepRules
  readonly cutoffs: Cutoffs
  readonly nowMs: number
}

/** Versions that at least one scope does not keep and that are old enough, some at a time, also of several groups. */
async function* beyondCutoffs(q: Queries, repository: string, by: By): AsyncGenerator<string[]> {
  let waiting: string[] = []
  for await (const group of crowdedGroups(q, repository, by.rules)) {
    for await (const ids of beyondLinesOf(q, repository, group, by)) {
      waiting.push(...ids)
      if (waiting.length < pageMax) continue
      yield waiting
      waiting = []
    }
    await nextRound()
  }
  if (waiting.length > 0) yield waiting
}

/** Groups that may have more versions than are kept. */
async function* crowdedGroups(q: Queries, repository: string, rules: KeepRules): AsyncGenerator<Group> {
  if (rules.grouping === 'repository') {
    yield 'repository'
    return
  }
  const least = Math.min(...scopesOf(rules).map(({ keepLast }) => keepLast))
  for (let after: Exclude<Group, 'repository'> | null = null; ; ) {
    const counted: Awaited<ReturnType<typeof countVersions>> = await countVersions(
      q,
      repository,
      after,
      versionsCountedPage,
    )
    const last = counted.at(-1)
    const full = counted.reduce((sum, { versions }) => sum + versions, 0) === versionsCountedPage
    // Of the last package of a full page there may be more than were counted.
    for (const each of counted) if (each.versions > least || (full && each === last)) yield each
    if (last === undefined || !full) return
    after = last
    await nextRound()
  }
}

/** Those of one group, oldest first. */
async function* beyondLinesOf(
  q: Queries,
  repository: string,
  group: Group,
  { rules, cutoffs, nowMs }: By,
): AsyncGenerator<string[]> {
  let newestCutoff: Position | null = null
  for (const cutoff of await cutoffs.of(group, scopesOf(rules)))
    if (cutoff !== null && (newestCutoff === null || isOlder(newestCutoff, cutoff))) newestCutoff = cutoff
  if (newestCutoff === null) return
  // No id is smaller than none: what was published at that very moment is not old enough.
  const young = { published_at: criteriaOf(rules, nowMs).publishedBefore, artifact_id: '' }
  const before = isOlder(young, newestCutoff) ? young : newestCutoff
  for (let after: Position | null = null; ; ) {
    const page: Position[] = await oldestVersions(q, repository, group, { after, before }, pageMax)
    if (page.length > 0) yield page.map(({ artifact_id }) => artifact_id)
    if (page.length < pageMax) return
    after = page.at(-1) ?? null
  }
}
