import type { Database, Queries, Transaction } from '../../../database/database.ts'
import { type Clock, earlier, timestamp } from '../../../kernel/clock.ts'
import { notFound } from '../../../kernel/failure.ts'
import { deepShares } from '../../../kernel/limits/backups.ts'
import { day } from '../../../kernel/units.ts'
import type { ManifestContent } from './manifest.ts'
import { findAgentRow } from './plan.queries.ts'
import {
  deletePoints,
  findPoint,
  insertPoint,
  listPoints,
  noteDamage,
  noteShare,
  type PointRow,
  sharesRead,
  updatePoint,
} from './points.queries.ts'
import { type Position, positionText } from './positions.ts'
import { pointView } from './views.ts'
import type { Point } from './vocabulary.ts'

/** What the vault is called that the agent found last; null where it never found one. */
export const currentVault = async (q: Queries): Promise<string | null> => (await findAgentRow(q))?.vault_id ?? null

/** Points of the vault that is there now, newest first, and where the next page begins. */
export const pointPage = async (
  q: Queries,
  after: Position | null,
  limit: number,
): Promise<{ items: Point[]; next: string | null }> => {
  const vault = await currentVault(q)
  const rows = vault === null ? [] : await listPoints(q, vault, after, limit)
  const last = rows.length === limit ? rows.at(-1) : undefined
  return {
    items: rows.map(pointView),
    next: last === undefined ? null : positionText({ at: last.snapshot_at, id: last.id }),
  }
}

/** Keeps a point beyond the plan, or not. 404 for one that this vault does not have. */
export const pinPoint = ({ database }: { readonly database: Database }, id: string, pinned: boolean): Promise<Point> =>
  database.transaction(async (tx) => {
    const vault = await currentVault(tx)
    await updatePoint(tx, id, { pinned: pinned ? 1 : 0 })
    const row = vault === null ? undefined : await findPoint(tx, vault, id)
    if (row === undefined) throw notFound('point')
    return pointView(row)
  })

/** Every point of a vault, newest first. There are some hundred, as many as the plan keeps. */
export const pointsOfVault = (q: Queries, vault: string): Promise<PointRow[]> => listPoints(q, vault, null, 100_000)

/** What a manifest says of its point. */
const pointRowOf = (content: ManifestContent): PointRow => ({
  id: content.id,
  vault_id: content.vault,
  snapshot_at: content.snapshotAt,
  completed_at: content.completedAt,
  blobs: content.blobs.count,
  content_bytes: content.blobs.bytes,
  new_bytes: content.newBytes,
  table_count: content.tables.length,
  row_count: content.tables.reduce((sum, { rows }) => sum + rows, 0),
  pinned: 0,
  verified_at: null,
  verify_depth: null,
  verify_error: null,
})

export const recordPoint = (tx: Transaction, content: ManifestContent): Promise<void> =>
  insertPoint(tx, pointRowOf(content))

export const forgetPointRows = (tx: Transaction, ids: readonly string[]): Promise<void> => deletePoints(tx, ids)

/** What a look at a point has shown: `error` null where it is whole. */
export const noteVerified = async (
  tx: Transaction,
  id: string,
  depth: 'structural' | 'deep',
  error: string | null,
  nowMs: number,
): Promise<void> => {
  await updatePoint(tx, id, { verified_at: timestamp(nowMs), verify_depth: depth, verify_error: error })
}

/** The share of a vault that is to be read next; null while the day of the last one is not over. */
export const dueShare = async (q: Queries, vault: string, nowMs: number): Promise<number | null> => {
  const read = new Map((await sharesRead(q, vault)).map(({ share, read_at }) => [share, Date.parse(read_at)]))
  if (Math.max(Number.NEGATIVE_INFINITY, ...read.values()) > nowMs - day) return null
  let due = 0
  for (let share = 1; share < deepShares; share++)
    if ((read.get(share) ?? Number.NEGATIVE_INFINITY) < (read.get(due) ?? Number.NEGATIVE_INFINITY)) due = share
  return due
}

/**
 * Writes down what reading a share has shown. A point of which every share was read since it was completed, without a
 * fault, is verified as deep as if it had been read at once.
 */
export const noteShareRead = async (
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  vault: string,
  share: number,
  begunMs: number,
  found: { readonly faulty: ReadonlyMap<string, { readonly code: string }>; readonly damaged: readonly string[] },
): Promise<void> => {
  await database.transaction(async (tx) => {
    const nowMs = clock.now()
    await noteShare(tx, vault, share, timestamp(begunMs))
    await noteDamage(tx, vault, found.damaged, timestamp(nowMs))
    for (const [id, { code }] of found.faulty) await noteVerified(tx, id, 'deep', code, nowMs)
    const reads = await sharesRead(tx, vault)
    if (reads.length < deepShares) return
    const since = reads.map(({ read_at }) => read_at).reduce(earlier)
    for (const point of await pointsOfVault(tx, vault))
      if (point.completed_at <= since && point.verify_error === null && !found.faulty.has(point.id))
        await noteVerified(tx, point.id, 'deep', null, nowMs)
  })
}
