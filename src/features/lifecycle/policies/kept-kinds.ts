import { setImmediate as nextRound } from 'node:timers/promises'
import type { Queries, Transaction } from '../../../database/database.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { retentionItemsMax } from '../../../kernel/limits/lifecycle.ts'
import { criteriaOf, oldEnoughAt } from './age.ts'
import { beyondCutoffs, type Look, lookAt } from './beyond.ts'
import type { Counted } from './counted.ts'
import type { KeepScope } from './cutoffs.ts'
import type { KeepRules, KeptBlocker, KeptOutcome } from './vocabulary.ts'

/** What policies keep and delete beside package versions, as answers and events call it. */
const kindNames = ['images', 'npmVersions'] as const
export type KindName = (typeof kindNames)[number]
export type ByKind<T> = Readonly<Record<KindName, T>>

export const byKind = <T>(of: (name: KindName) => T): ByKind<T> => ({
  images: of('images'),
  npmVersions: of('npmVersions'),
})

/** A thing that a policy would delete: an image, which is a manifest below a name, or a version of an npm package. */
export interface UnwantedThing {
  readonly id: string
  /** The name of the image or the package. */
  readonly group: string
  /** The digest of the manifest, or the number of the version. */
  readonly called: string
  /** When it came: an image with its newest tag. */
  readonly at: string
}

/** The same as it is shown. */
export interface ShownThing extends UnwantedThing {
  /** In order; the first ones where there are many. */
  readonly tags: readonly string[]
}

/** What became of it. */
export interface ThingTold extends Pick<UnwantedThing, 'id' | 'group' | 'called'> {
  readonly outcome: KeptOutcome
  readonly blockers: readonly KeptBlocker[]
}

/** Things that are to go, and in whose name. */
interface Removal {
  readonly rules: KeepRules
  readonly things: readonly UnwantedThing[]
  readonly actor: string
  readonly nowMs: number
}

/**
 * A kind of things that policies keep and delete beside package versions. The formats that have such things say how;
 * main hands them to the policies, which import no format.
 */
export interface KeptKind {
  readonly name: KindName
  /** What the policy would delete now, the oldest of each group first, some at a time. */
  readonly look: (
    q: Queries,
    repository: string,
    rules: KeepRules,
    nowMs: number,
  ) => AsyncIterable<readonly UnwantedThing[]>
  readonly show: (q: Queries, things: readonly UnwantedThing[]) => Promise<readonly ShownThing[]>
  /** Takes the locks that deleting them needs and that come before the lock of the repository. */
  readonly lock: (tx: Transaction, things: readonly UnwantedThing[]) => Promise<void>
  /**
   * Deletes those that may still go, judged again under the lock of the repository, which the caller has taken. Tells
   * of each in the order asked; what comes to be too much for one transaction is left out, and is `partly` gone if it
   * was begun.
   */
  readonly remove: (tx: Transaction, repository: string, removal: Removal) => Promise<readonly ThingTold[]>
}

/** What a policy makes of a thing. It may go when nothing here keeps it. */
export interface JudgedThing extends UnwantedThing {
  /** The scopes that keep it by count. */
  readonly keptBy: readonly KeepScope[]
  readonly oldEnough: boolean
  /** From when on it is. */
  readonly oldEnoughAt: string
  readonly blockers: readonly KeptBlocker[]
  /** The labels and patterns that its tags match. */
  readonly labels: readonly string[]
}

/** What a format knows of a thing that is judged. */
export interface KnownThing<Group> extends UnwantedThing {
  readonly counted: Group
  readonly labels: readonly string[]
  readonly blockers: readonly KeptBlocker[]
}

/** Judges what a format knows. */
export const judgeThings = async <Group>(
  { rules, cutoffs, nowMs }: Look<Group>,
  known: readonly KnownThing<Group>[],
): Promise<Map<string, JudgedThing>> => {
  const { publishedBefore } = criteriaOf(rules, nowMs)
  const judged = new Map<string, JudgedThing>()
  for (const { counted, ...thing } of known) {
    const { id, at, labels } = thing
    judged.set(id, {
      ...thing,
      keptBy: await cutoffs.keeping(counted, { at, id }, labels),
      oldEnough: at < publishedBefore,
      oldEnoughAt: oldEnoughAt(at, rules),
    })
  }
  return judged
}

/** How a format counts, judges and deletes things of its kind. */
interface GivenKind<Group> extends Pick<KeptKind, 'name' | 'lock'> {
  readonly counted: (q: Queries, repository: string) => Counted<Group>
  readonly judge: (
    q: Queries,
    repository: string,
    look: Look<Group>,
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, JudgedThing>>
  readonly tagsOf: (q: Queries, id: string) => Promise<readonly string[]>
  /** Deletes what may go; tells what became of each by id, and nothing of those that are left to the next time. */
  readonly take: (
    tx: Transaction,
    repository: string,
    going: readonly JudgedThing[],
    by: { readonly actor: string; readonly now: string },
  ) => Promise<ReadonlyMap<string, 'deleted' | 'partly'>>
}

/** The kind that preview, runs and schedule ask: they all go by one judgement. */
export const keptKind = <Group>({ name, lock, counted, judge, tagsOf, take }: GivenKind<Group>): KeptKind => ({
  name,
  lock,
  async *look(q, repository, rules, nowMs) {
    const look = lookAt(counted(q, repository), rules, nowMs)
    for await (const ids of beyondCutoffs(look))
      yield [...(await judge(q, repository, look, ids)).values()].filter((thing) => becomesOf(thing) === 'deleted')
  },
  async show(q, things) {
    const shown: ShownThing[] = []
    for (const thing of things) shown.push({ ...thing, tags: await tagsOf(q, thing.id) })
    return shown
  },
  async remove(tx, repository, { rules, things, actor, nowMs }) {
    const look = lookAt(counted(tx, repository), rules, nowMs)
    const ids = things.map(({ id }) => id)
    const judged = await judge(tx, repository, look, ids)
    const going = ids.flatMap((id) => {
      const thing = judged.get(id)
      return thing !== undefined && becomesOf(thing) === 'deleted' ? [thing] : []
    })
    const taken = await take(tx, repository, going, { actor, now: timestamp(nowMs) })
    return things.flatMap(({ id, group, called }) => {
      const thing = judged.get(id)
      const wanted = becomesOf(thing)
      const outcome = wanted === 'deleted' ? taken.get(id) : wanted
      return outcome === undefined ? [] : [{ id, group, called, outcome, blockers: thing?.blockers ?? [] }]
    })
  },
})

/** What a policy does to a thing, if there is one. */
const becomesOf = (thing: JudgedThing | undefined): 'deleted' | 'protected' | 'not_eligible' => {
  if (thing === undefined || thing.keptBy.length > 0 || !thing.oldEnough) return 'not_eligible'
  return thing.blockers.length > 0 ? 'protected' : 'deleted'
}

/** What a look found of one kind. */
export interface Selected {
  readonly kind: KeptKind
  readonly things: readonly UnwantedThing[]
}

/** The things of all kinds that one run deletes, so many of each, and whether there are more. */
export const selectThings = async (
  kinds: readonly KeptKind[],
  ...asked: Parameters<KeptKind['look']>
): Promise<{ readonly selected: readonly Selected[]; readonly hasMore: boolean }> => {
  const selected: Selected[] = []
  let hasMore = false
  for (const kind of kinds) {
    const things: UnwantedThing[] = []
    selected.push({ kind, things })
    for await (const some of kind.look(...asked)) {
      const room = retentionItemsMax - things.length
      things.push(...some.slice(0, room))
      if (some.length > room) {
        hasMore = true
        break
      }
      await nextRound()
    }
  }
  return { selected, hasMore }
}

/** How many things a run deleted, and how many were to go and stayed. */
interface Count {
  readonly deleted: number
  readonly kept: number
}

export type Counts = ByKind<Count>

export const nothingYet: Counts = byKind(() => ({ deleted: 0, kept: 0 }))

export const countTold = (counts: Counts, name: KindName, told: readonly ThingTold[]): Counts => {
  const gone = told.filter(({ outcome }) => outcome === 'deleted').length
  const begun = told.filter(({ outcome }) => outcome === 'partly').length
  const { deleted, kept } = counts[name]
  return { ...counts, [name]: { deleted: deleted + gone, kept: kept + told.length - gone - begun } }
}

/** How many things a run looked at. */
export const lookedAt = (counts: Counts): number =>
  kindNames.reduce((sum, name) => sum + counts[name].deleted + counts[name].kept, 0)

/** What operators are told of them; nothing of a kind of which there was none. */
export const countDetails = (counts: Counts): Record<string, number> =>
  Object.fromEntries(
    kindNames.flatMap((name) => {
      const { deleted, kept } = counts[name]
      return deleted + kept === 0 ? [] : [[`${name}Deleted`, deleted] as const, [`${name}Kept`, kept] as const]
    }),
  )
