import type { Transaction } from '../../database/database.ts'
import { appendStorageEvent } from '../../journal/storage-events/storage-events.ts'
import { timestamp } from '../../kernel/clock.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { reclaimBatch } from '../../kernel/limits/upkeep.ts'
import { upkeepRun } from '../../kernel/one-by-one.ts'
import { blobName } from '../../ports/blob-name.ts'
import { insertRemoval, lockBlob } from '../claims/claims.queries.ts'
import { deleteInline } from '../inline/inline.queries.ts'
import { heldBack, seemsHeldBack } from './holds.ts'
import { deleteBlob, deleteCandidate, isClaimed, nextCandidates } from './reclaim.queries.ts'
import { moveNotes, type Removal } from './removal.queries.ts'
import { nextTry, type RemovalDeps, type Removed, remove, removeDue } from './removal.ts'

export type ReclaimDeps = RemovalDeps

type Run = ReturnType<typeof upkeepRun>

/**
 * Gives up bytes that nobody claims any more, online, and removes them.
 *
 * Order: a transaction that saw no claim (holding the lock that announcing takes too) turns the blob's row into a
 * removal
 * -> the bytes go -> the removal goes, and the journals are told (`removal.ts`; I2, I4). A crash leaves removals, and
 * the next run goes on with them. Whoever wants to store the same bytes meanwhile makes another row, with another name
 * for them, and waits for nobody.
 *
 * While somebody holds it back (`holds.ts`) it goes on with the removals that there are, and makes no other.
 *
 * What cannot be given up is passed over, and the run does not count as a good one.
 *
 * One call visits the whole queue once, a batch at a time, unless `stopping()`. Returns how many blobs went.
 */
export const reclaim = async (deps: ReclaimDeps, stopping: () => boolean = () => false): Promise<number> => {
  let removed = 0
  const tally: Tally = new Map()
  const run = upkeepRun(deps.report)
  const count = ({ blobs, told }: Removed): void => {
    removed += blobs
    for (const { repository, bytes } of told) {
      const sum = tally.get(repository) ?? { files: 0, bytes: 0 }
      tally.set(repository, { files: sum.files + 1, bytes: sum.bytes + bytes })
    }
  }
  if (!(await seemsHeldBack(deps)))
    for (let after = ''; !stopping(); ) {
      const digests = await nextCandidates(deps.database.reader, after, reclaimBatch)
      const last = digests.at(-1)
      if (last === undefined) break
      count(await remove(deps, await giveUp(deps, digests, run)))
      if (digests.length < reclaimBatch) break
      after = last
    }
  for await (const more of removeDue(deps, stopping)) count(more)
  await tellOperators(deps, tally)
  run.end()
  deps.meter.ran(deps.clock.now())
  return removed
}

/** What went in the course of a run, by the repositories that held it last. */
type Tally = Map<string, { files: number; bytes: number }>

/** One event for each repository and run: a crash before it loses a summary, while the journal has every line. */
const tellOperators = async ({ database, clock }: ReclaimDeps, tally: Tally): Promise<void> => {
  for (const [repository, { files, bytes }] of tally) {
    const details = { files, bytes: String(bytes) }
    const occurredAt = timestamp(clock.now())
    await database.transaction(
      (tx) => appendStorageEvent(tx, { repository, level: 'info', code: 'reclaim.finished', details, occurredAt }),
      { durability: 'relaxed' },
    )
  }
}

/**
 * Some digests, in order, which is the order of their locks. What becomes a removal here is tried at once. Where one of
 * them cannot be given up, each is tried for itself: the others are.
 */
const giveUp = async (
  { database, clock, reach }: ReclaimDeps,
  digests: readonly string[],
  run: Run,
): Promise<Removal[]> => {
  const removals: Removal[] = []
  const together = async (some: readonly string[]): Promise<void> => {
    removals.push(...(await database.transaction((tx) => giveUpUnclaimed(tx, some, clock.now()))))
  }
  try {
    await together(digests)
  } catch (error) {
    if (digests.length === 1) await run.attempt(`giving up the bytes of ${digests[0]}`, () => Promise.reject(error))
    else for (const digest of digests) await run.attempt(`giving up the bytes of ${digest}`, () => together([digest]))
  }
  reach('reclaim.given-up')
  return removals
}

const giveUpUnclaimed = async (tx: Transaction, digests: readonly string[], nowMs: number): Promise<Removal[]> => {
  const removals: Removal[] = []
  const held = await heldBack(tx, nowMs)
  for (const digest of digests) {
    const blob = await lockBlob(tx, digest)
    if (blob !== undefined && !(await isClaimed(tx, digest))) {
      if (held) continue
      const removal = { name: blobName(toSha256(digest), blob.generation), size: blob.size, tries: 1 }
      await insertRemoval(tx, { ...removal, begun_at: timestamp(nowMs), due_at: nextTry(nowMs, 1) })
      await moveNotes(tx, digest, removal.name)
      if (blob.inline === 1) await deleteInline(tx, blob.generation)
      await deleteBlob(tx, digest)
      removals.push(removal)
    }
    await deleteCandidate(tx, digest)
  }
  return removals
}
