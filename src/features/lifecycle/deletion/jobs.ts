import { lockLive, release } from '../../../content/claims/claims.ts'
import { claimsPastGrace } from '../../../content/reclaim/grace.ts'
import { noteHolder } from '../../../content/reclaim/reclaim-queue.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { deletedArtifactsKeptMs } from '../../../kernel/limits/lifecycle.ts'
import { upkeepRun } from '../../../kernel/one-by-one.ts'
import { forgetAnnotations } from '../../catalog/annotations/annotations.ts'
import { forgetAttachments } from '../../catalog/attachments/attachments.ts'
import { forgetVersion } from '../../catalog/packages/versions.ts'
import { forgetCopies, forgetReleased, markReleased, releasedBefore } from './deletion.queries.ts'
import type { DeletionParts } from './deletion.ts'

export interface DeletionUpkeepParts extends DeletionParts {
  readonly report: (message: string, error: unknown) => void
}

/**
 * What time does to what was deleted or cancelled; an idempotent function of the database. When the grace period of its
 * repository is over, the room is given back and the bytes go to reclaim; the record of a deleted file is kept for
 * another while.
 */
export const settleDeletions = async (parts: DeletionUpkeepParts): Promise<void> => {
  const { database, clock } = parts
  const run = upkeepRun(parts.report)
  await run.each('giving back what was deleted', {
    find: (limit) => claimsPastGrace(database.reader, clock.now(), parts.cleanupGraceMs, limit),
    what: (id) => `giving back what ${id} holds`,
    key: (id) => id,
    work: (id) => giveUp(parts, id),
  })
  const before = timestamp(clock.now() - deletedArtifactsKeptMs)
  await run.each('forgetting files that were deleted long ago', {
    find: (limit) => releasedBefore(database.reader, before, limit),
    what: (id) => `forgetting the deleted file ${id}`,
    key: (id) => id,
    work: (id) => forget(parts, id),
  })
  run.end()
}

/** What a power cut takes back is done again. */
const forget = async ({ database }: DeletionParts, id: string): Promise<void> => {
  while (await database.transaction((tx) => forgetAttachments(tx, id), { durability: 'relaxed' }));
  await database.transaction(
    async (tx) => {
      await forgetCopies(tx, [id])
      await forgetReleased(tx, [id])
    },
    { durability: 'relaxed' },
  )
}

/**
 * Looks again under the claim's lock: it may have been brought back meanwhile. What a power cut takes back is done again,
 * and the mark of reclaim, which waits for the disk, takes this there as well before any bytes go.
 */
const giveUp = ({ database, clock }: DeletionParts, id: string): Promise<void> =>
  database.transaction(
    async (tx) => {
      const now = timestamp(clock.now())
      if ((await lockLive(tx, id)) || !(await release(tx, id, now))) return
      await forgetVersion(tx, id)
      const deleted = await markReleased(tx, id, now)
      if (deleted === undefined) return
      await forgetAnnotations(tx, id)
      await noteHolder(tx, deleted.sha256, deleted.repository, id)
    },
    { durability: 'relaxed' },
  )
