import { lockRetired, release } from '../../../content/claims/claims.ts'
import { graceEndMs } from '../../../content/reclaim/grace.ts'
import { tellWhenGone } from '../../../content/reclaim/reclaim-queue.ts'
import type { Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { forgetAnnotations } from '../../catalog/annotations/annotations.ts'
import { forgetVersion } from '../../catalog/packages/versions.ts'
import { deleteLfsObject, graceHoursOf, markReleased } from './deletion.queries.ts'
import { forgetNpmVersion } from './npm-versions.queries.ts'

/**
 * The grace period of what was deleted or cancelled is over: its claim goes, and with it, in the same transaction,
 * whatever was kept so that it could be brought back. Looks again under the locks of the claim and of its repository:
 * it may have been brought back meanwhile, and even deleted again, or its repository been given a longer period. Until
 * when it can be brought back was told to somebody, and that holds.
 *
 * The one place that knows what each kind of holder leaves behind. A kind that is missing here does not compile.
 */
export const giveUp = async (
  tx: Transaction,
  id: string,
  { nowMs, cleanupGraceMs }: { readonly nowMs: number; readonly cleanupGraceMs: number },
): Promise<void> => {
  const retired = await lockRetired(tx, id)
  if (retired === null) return
  await lockRepository(tx, retired.repository)
  const graceHours = await graceHoursOf(tx, retired.repository)
  if (graceEndMs(retired.retiredAt, graceHours, cleanupGraceMs) > nowMs) return
  const now = timestamp(nowMs)
  const holder = await release(tx, id, now)
  switch (holder) {
    case null:
      return
    case 'artifact':
      return giveUpArtifact(tx, id, now)
    case 'lfs-object':
      return giveUpLfsObject(tx, id)
    // Of one that was cancelled: what is a blob of images, or was fetched from elsewhere, goes at once, with its row.
    case 'oci-blob':
    case 'npm-cached':
      return
    case 'npm-version':
      return giveUpNpmVersion(tx, id, now)
    default:
      throw new Error(`the claim ${id} was held by a ${holder satisfies never}, which this program does not know`)
  }
}

/** It cannot be brought back any more. An upload that was cancelled has nothing beside its claim. */
const giveUpLfsObject = async (tx: Transaction, id: string): Promise<void> => {
  const deleted = await deleteLfsObject(tx, id)
  if (deleted !== undefined) await tellWhenGone(tx, deleted.sha256, { repository: deleted.repository, subject: id })
}

/** Its version is free for good, nothing is said of it any more, and the journal tells when its bytes go. */
const giveUpArtifact = async (tx: Transaction, id: string, now: string): Promise<void> => {
  await forgetVersion(tx, id)
  const deleted = await markReleased(tx, id, now)
  if (deleted === undefined) return
  await forgetAnnotations(tx, id)
  await tellWhenGone(tx, deleted.sha256, { repository: deleted.repository, subject: id })
}

/** Its number is taken for good, nothing is said of it any more, and the journal tells when its bytes go. */
const giveUpNpmVersion = async (tx: Transaction, id: string, now: string): Promise<void> => {
  const gone = await forgetNpmVersion(tx, id, now)
  if (gone !== undefined) await tellWhenGone(tx, gone.sha256, { repository: gone.repository, subject: id })
}
