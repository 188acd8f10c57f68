import type { Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import { keptThingsPerRunMax, retentionItemsMax } from '../../../kernel/limits/lifecycle.ts'
import { type Counts, countTold, type KeptKind, nothingYet, type UnwantedThing } from './kept-kinds.ts'
import { policyOf, type SavedPolicy } from './policy.ts'
import type { RunDeps } from './run.ts'
import type { KeepRules } from './vocabulary.ts'

export interface BatchDeps extends RunDeps {
  readonly reach: ReachFaultPoint
}

interface Batches {
  readonly rules: KeepRules
  readonly actor: string
  /** Throws unless the policy, read again under the lock, is the same and asks for this run. */
  readonly stillWanted: (tx: Transaction, policy: SavedPolicy) => Promise<void>
}

/**
 * Deletes what a policy lets go beside files, as much of each kind as a scheduled run may, in batches: each is one
 * transaction, so that a run that is killed loses nothing but its count, and others get to the repository in between.
 */
export const deleteInBatches = async (
  deps: BatchDeps,
  repository: string,
  batches: Batches,
  stopping: () => boolean,
): Promise<Counts> => {
  let counts = nothingYet
  for (const kind of deps.keptKinds) {
    if (stopping()) return counts
    counts = await deleteOfKind(deps, repository, batches, { kind, counts, stopping })
  }
  return counts
}

interface OfKind {
  readonly kind: KeptKind
  readonly counts: Counts
  readonly stopping: () => boolean
}

const deleteOfKind = async (
  deps: BatchDeps,
  repository: string,
  batches: Batches,
  { kind, counts, stopping }: OfKind,
): Promise<Counts> => {
  const { database, clock } = deps
  let sum = counts
  let looked = 0
  for await (const things of kind.look(database.reader, repository, batches.rules, clock.now())) {
    for (let at = 0; at < things.length; at += retentionItemsMax) {
      if (stopping() || looked >= keptThingsPerRunMax) return sum
      const batch = things.slice(at, at + retentionItemsMax)
      looked += batch.length
      sum = await deleteBatch(deps, repository, batches, { kind, batch, counts: sum, stopping })
    }
  }
  return sum
}

interface Batch extends OfKind {
  readonly batch: readonly UnwantedThing[]
}

/** One batch, in as many transactions as its tags need. */
const deleteBatch = async (
  { database, clock, reach }: BatchDeps,
  repository: string,
  { rules, actor, stillWanted }: Batches,
  { kind, batch, counts, stopping }: Batch,
): Promise<Counts> => {
  let sum = counts
  for (let things = batch; things.length > 0 && !stopping(); ) {
    const told = await database.transaction(async (tx) => {
      await kind.lock(tx, things)
      await lockRepository(tx, repository)
      await stillWanted(tx, await policyOf(tx, repository))
      const removed = await kind.remove(tx, repository, { rules, things, actor, nowMs: clock.now() })
      reach('policy.images')
      return removed
    })
    reach('policy.batch')
    sum = countTold(sum, kind.name, told)
    const done = new Set(told.flatMap(({ id, outcome }) => (outcome === 'partly' ? [] : [id])))
    things = things.filter(({ id }) => !done.has(id))
  }
  return sum
}
