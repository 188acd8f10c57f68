import { lockLive, release } from '../../../content/claims/claims.ts'
import { tellWhenGone } from '../../../content/reclaim/reclaim-queue.ts'
import type { Transaction } from '../../../database/database.ts'
import { forgetAnnotations } from '../../catalog/annotations/annotations.ts'
import { forgetVersion } from '../../catalog/packages/versions.ts'
import { markReleased } from './deletion.queries.ts'

/**
 * The grace period of what was deleted or cancelled is over: its claim goes, and with it, in the same transaction,
 * whatever was kept so that it could be brought back. Looks again under the claim's lock: it may have been brought back
 * meanwhile.
 *
 * The one place that knows what each kind of holder leaves behind. A kind that is missing here does not compile.
 */
export const giveUp = async (tx: Transaction, id: string, now: string): Promise<void> => {
  if (await lockLive(tx, id)) return
  const holder = await release(tx, id, now)
  switch (holder) {
    case null:
      return
    case 'artifact':
      return giveUpArtifact(tx, id, now)
    default:
      throw new Error(`the claim ${id} was held by a ${holder satisfies never}, which this program does not know`)
  }
}

/** Its version is free for good, nothing is said of it any more, and the journal tells when its bytes go. */
const giveUpArtifact = async (tx: Transaction, id: string, now: string): Promise<void> => {
  await forgetVersion(tx, id)
  const deleted = await markReleased(tx, id, now)
  if (deleted === undefined) return
  await forgetAnnotations(tx, id)
  await tellWhenGone(tx, deleted.sha256, { repository: deleted.repository, subject: id })
}
