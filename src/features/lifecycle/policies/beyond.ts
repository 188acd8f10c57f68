import { setImmediate as nextRound } from 'node:timers/promises'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { versionsCountedPage } from '../../../kernel/limits/lifecycle.ts'
import { criteriaOf } from './age.ts'
import { type Counted, isOlder, type Position } from './counted.ts'
import { Cutoffs, scopesOf } from './cutoffs.ts'
import type { KeepRules } from './vocabulary.ts'

/** A look at things of one kind by the rules of a policy, at a moment. */
export interface Look<Group> {
  readonly counted: Counted<Group>
  readonly cutoffs: Cutoffs<Group>
  readonly rules: KeepRules
  readonly nowMs: number
}

export const lookAt = <Group>(counted: Counted<Group>, rules: KeepRules, nowMs: number): Look<Group> => ({
  counted,
  cutoffs: new Cutoffs(counted, rules),
  rules,
  nowMs,
})

/**
 * Ids of things that at least one scope does not keep and that are old enough, the oldest of each group first, some at
 * a time, also of several groups. Reads pages from indexes: one that counts the things of groups, and from groups that
 * have more than they keep, those beyond the lines. After each group others get their turn, since SQLite answers at
 * once.
 */
export async function* beyondCutoffs<Group>(look: Look<Group>): AsyncGenerator<string[]> {
  let waiting: string[] = []
  for await (const group of crowdedGroups(look)) {
    for await (const ids of beyondLinesOf(group, look)) {
      waiting.push(...ids)
      if (waiting.length < pageMax) continue
      yield waiting
      waiting = []
    }
    await nextRound()
  }
  if (waiting.length > 0) yield waiting
}

/** Groups that may have more than is kept; null is all of the repository. */
async function* crowdedGroups<Group>({ counted, rules }: Look<Group>): AsyncGenerator<Group | null> {
  if (rules.grouping === 'repository') {
    yield null
    return
  }
  const least = Math.min(...scopesOf(rules).map(({ keepLast }) => keepLast))
  for (let after: Group | null = null; ; ) {
    const found: Awaited<ReturnType<typeof counted.groupsAfter>> = await counted.groupsAfter(after, versionsCountedPage)
    const last = found.at(-1)
    const full = found.reduce((sum, { things }) => sum + things, 0) === versionsCountedPage
    // Of the last group of a full page there may be more than were counted.
    for (const each of found) if (each.things > least || (full && each === last)) yield each.group
    if (last === undefined || !full) return
    after = last.group
    await nextRound()
  }
}

/** Those of one group, oldest first. */
async function* beyondLinesOf<Group>(
  group: Group | null,
  { counted, rules, cutoffs, nowMs }: Look<Group>,
): AsyncGenerator<string[]> {
  let newestCutoff: Position | null = null
  for (const cutoff of await cutoffs.of(group, scopesOf(rules)))
    if (cutoff !== null && (newestCutoff === null || isOlder(newestCutoff, cutoff))) newestCutoff = cutoff
  if (newestCutoff === null) return
  // No id is smaller than none: what came at that very moment is not old enough.
  const young = { at: criteriaOf(rules, nowMs).publishedBefore, id: '' }
  const before = isOlder(young, newestCutoff) ? young : newestCutoff
  for (let after: Position | null = null; ; ) {
    const page: readonly Position[] = await counted.oldest(group, { after, before }, pageMax)
    if (page.length > 0) yield page.map(({ id }) => id)
    if (page.length < pageMax) return
    after = page.at(-1) ?? null
  }
}
