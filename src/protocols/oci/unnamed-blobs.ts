import { lockLive } from '../../content/claims/claims.ts'
import type { Transaction } from '../../database/database.ts'
import { lockRepository } from '../../database/locks.ts'
import type { OciBlobsTable } from '../../database/tables/images.ts'
import { timestamp } from '../../kernel/clock.ts'
import { blobUploadMs, unnamedBlobMs } from '../../kernel/limits/oci.ts'
import { blobById, holdSince } from './blobs.queries.ts'
import { giveUpBlob } from './blobs.ts'
import { newestUnnamed, openUploadsBelow } from './unnamed-blobs.queries.ts'

/**
 * Gives a blob up that no manifest has named for an hour, unless its push is still going on: then it is held from when
 * something of that came last. The caller has taken no lock.
 */
export const giveUpUnnamed = async (
  tx: Transaction,
  found: { readonly id: string; readonly repository: string },
  nowMs: number,
): Promise<void> => {
  await lockLive(tx, found.id)
  await lockRepository(tx, found.repository)
  const blob = await blobById(tx, found.id)
  const until = timestamp(nowMs - unnamedBlobMs)
  if (blob === undefined || blob.unused_since === null || blob.unused_since > until) return
  const sent = await lastSent(tx, blob, nowMs)
  if (sent !== null && sent > until) await holdSince(tx, blob.id, sent)
  else await giveUpBlob(tx, found, timestamp(nowMs))
}

/**
 * When somebody last sent to the name that a blob came below: what is unnamed there came from the same push, as far as
 * anybody can tell. For a day from when somebody counted on it; then it is what pushes left that broke off.
 */
const lastSent = async (
  tx: Transaction,
  { repository, sent_below, counted_on_at }: OciBlobsTable,
  nowMs: number,
): Promise<string | null> => {
  if (sent_below === null || counted_on_at <= timestamp(nowMs - blobUploadMs)) return null
  const now = timestamp(nowMs)
  const { expires_at, turn_until } = await openUploadsBelow(tx, repository, sent_below)
  if (turn_until !== null && turn_until > now) return now
  // An upload lives for a day from its last byte on.
  const appended = expires_at === null ? '' : timestamp(Date.parse(expires_at) - blobUploadMs)
  const whole = (await newestUnnamed(tx, repository, sent_below)) ?? ''
  return [appended, whole].sort().at(-1) ?? null
}
