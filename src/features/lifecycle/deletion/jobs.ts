import { claimsPastGrace } from '../../../content/reclaim/grace.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { deletedArtifactsKeptMs } from '../../../kernel/limits/lifecycle.ts'
import { upkeepRun } from '../../../kernel/one-by-one.ts'
import { forgetAttachments } from '../../catalog/attachments/attachments.ts'
import { forgetCopies, forgetReleased, releasedBefore } from './deletion.queries.ts'
import type { DeletionDeps } from './deletion.ts'
import { giveUp } from './giving-up.ts'

export interface DeletionUpkeepDeps extends DeletionDeps {
  readonly report: (message: string, error: unknown) => void
}

/**
 * What time does to what was deleted or cancelled; an idempotent function of the database. When the grace period of its
 * repository is over, the room is given back and the bytes go to reclaim; the record of a deleted file is kept for
 * another while.
 */
export const settleDeletions = async (deps: DeletionUpkeepDeps): Promise<void> => {
  const { database, clock } = deps
  const run = upkeepRun(deps.report)
  await run.each('giving back what was deleted', {
    find: (limit) => claimsPastGrace(database.reader, clock.now(), deps.cleanupGraceMs, limit),
    what: (id) => `giving back what ${id} holds`,
    key: (id) => id,
    // What a power cut takes back is done again, and the mark of reclaim, which waits for the disk, takes this there as
    // well before any bytes go.
    work: (id) =>
      database.transaction((tx) => giveUp(tx, id, { nowMs: clock.now(), cleanupGraceMs: deps.cleanupGraceMs }), {
        durability: 'relaxed',
      }),
  })
  const before = timestamp(clock.now() - deletedArtifactsKeptMs)
  await run.each('forgetting files that were deleted long ago', {
    find: (limit) => releasedBefore(database.reader, before, limit),
    what: (id) => `forgetting the deleted file ${id}`,
    key: (id) => id,
    work: (id) => forget(deps, id),
  })
  run.end()
}

/** What a power cut takes back is done again. */
const forget = async ({ database }: DeletionDeps, id: string): Promise<void> => {
  while (await database.transaction((tx) => forgetAttachments(tx, id), { durability: 'relaxed' }));
  await database.transaction(
    async (tx) => {
      await forgetCopies(tx, [id])
      await forgetReleased(tx, [id])
    },
    { durability: 'relaxed' },
  )
}
