import { lockLive, release } from '../../content/claims.ts'
import { claimsPastGrace } from '../../content/grace.ts'
import { noteHolder } from '../../content/reclaim-queue.ts'
import { timestamp } from '../../kernel/clock.ts'
import { deletedArtifactsKeptMs, upkeepBatch } from '../../kernel/limits.ts'
import { forgetAnnotations } from '../annotations/annotations.ts'
import { forgetAttachments } from '../attachments/attachments.ts'
import { forgetVersion } from '../packages/versions.ts'
import { forgetCopiesAmong } from '../promotion/forgetting.ts'
import { forgetReleased, markReleased, releasedBefore } from './deletion.queries.ts'
import type { DeletionParts } from './deletion.ts'

/**
 * What time does to what was deleted or cancelled; an idempotent function of the database. When the grace period of its
 * repository is over, the room is given back and the bytes go to reclaim; the record of a deleted file is kept for
 * another while.
 */
export const settleDeletions = async (parts: DeletionParts): Promise<void> => {
  const { database, clock } = parts
  for (;;) {
    const due = await claimsPastGrace(database.reader, clock.now(), parts.cleanupGraceMs, upkeepBatch)
    for (const id of due) await giveUp(parts, id)
    if (due.length < upkeepBatch) break
  }
  const before = timestamp(clock.now() - deletedArtifactsKeptMs)
  for (;;) {
    const old = await releasedBefore(database.reader, before, upkeepBatch)
    // What a power cut takes back is done again.
    for (const id of old)
      while (await database.transaction((tx) => forgetAttachments(tx, id), { durability: 'relaxed' }));
    if (old.length > 0)
      await database.transaction(async (tx) => {
        await forgetCopiesAmong(tx, old)
        await forgetReleased(tx, old)
      })
    if (old.length < upkeepBatch) break
  }
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
