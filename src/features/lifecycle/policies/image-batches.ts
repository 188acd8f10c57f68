import type { Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import { imagesPerRunMax, retentionItemsMax } from '../../../kernel/limits/lifecycle.ts'
import { countTold, type ImageCount, type KeptKind, noImages, type UnwantedImage } from './kept-kinds.ts'
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
 * Deletes the images that a policy lets go, as many as a scheduled run may, in batches: each is one transaction, so
 * that a run that is killed loses nothing but its count, and others get to the repository in between.
 */
export const deleteImages = async (
  deps: BatchDeps,
  repository: string,
  batches: Batches,
  stopping: () => boolean,
): Promise<ImageCount> => {
  const { database, clock, keptKinds } = deps
  let counted = noImages
  let looked = 0
  for (const kind of keptKinds)
    for await (const images of kind.look(database.reader, repository, batches.rules, clock.now())) {
      for (let at = 0; at < images.length; at += retentionItemsMax) {
        if (stopping() || looked >= imagesPerRunMax) return counted
        const batch = images.slice(at, at + retentionItemsMax)
        looked += batch.length
        counted = await deleteBatch(deps, repository, batches, { kind, batch, counted, stopping })
      }
    }
  return counted
}

interface Batch {
  readonly kind: KeptKind
  readonly batch: readonly UnwantedImage[]
  readonly counted: ImageCount
  readonly stopping: () => boolean
}

/** One batch, in as many transactions as its tags need. */
const deleteBatch = async (
  { database, clock, reach }: BatchDeps,
  repository: string,
  { rules, actor, stillWanted }: Batches,
  { kind, batch, counted, stopping }: Batch,
): Promise<ImageCount> => {
  let sum = counted
  for (let images = batch; images.length > 0 && !stopping(); ) {
    const told = await database.transaction(async (tx) => {
      await lockRepository(tx, repository)
      await stillWanted(tx, await policyOf(tx, repository))
      const removed = await kind.remove(tx, repository, { rules, images, actor, nowMs: clock.now() })
      reach('policy.images')
      return removed
    })
    reach('policy.batch')
    sum = countTold(sum, told)
    const done = new Set(told.flatMap(({ id, outcome }) => (outcome === 'partly' ? [] : [id])))
    images = images.filter(({ id }) => !done.has(id))
  }
  return sum
}
