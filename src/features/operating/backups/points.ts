import type { Database, Queries, Transaction } from '../../../database/database.ts'
import { type Actor, appendSecurityAudit, changeAuthority } from '../../../journal/security-audit/security-audit.ts'
import { type Clock, earlier, timestamp } from '../../../kernel/clock.ts'
import { Failure, invalid, notFound } from '../../../kernel/failure.ts'
import { deepShares } from '../../../kernel/limits/backups.ts'
import { day } from '../../../kernel/units.ts'
import { findBackupJob } from './jobs.queries.ts'
import { isOfFuture, pointsToForget } from './keeping.ts'
import type { ManifestContent } from './manifest.ts'
import { findAgentRow, findPlanRow } from './plan.queries.ts'
import {
  deletePoints,
  findPoint,
  givenUpPoints,
  insertPoint,
  listPoints,
  lockPoint,
  lockPoints,
  noteDamage,
  notePresence,
  noteShare,
  type PointRow,
  sharesRead,
  updatePoint,
} from './points.queries.ts'
import { type Position, positionText } from './positions.ts'
import { askForRetention } from './requests.ts'
import { pointView } from './views.ts'
import type { Point } from './vocabulary.ts'

/** What the vault is called that the agent found last; null where it never found one. */
export const currentVault = async (q: Queries): Promise<string | null> => (await findAgentRow(q))?.vault_id ?? null

/** The same where it has a point. */
export const currentPointsVault = async (q: Queries): Promise<string | null> => {
  const vault = await currentVault(q)
  return vault !== null && (await listPoints(q, vault, null, 1)).length > 0 ? vault : null
}

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

/** A point of the vault that is there now. 404 for one that it does not have. */
export const currentPoint = async (q: Queries, id: string): Promise<PointRow> => {
  const vault = await currentVault(q)
  const row = vault === null ? undefined : await findPoint(q, vault, id)
  if (row === undefined) throw notFound('point')
  return row
}

interface PointDeps {
  readonly database: Database
  readonly clock: Clock
}

const lockCurrentPoint = async (tx: Transaction, id: string): Promise<PointRow> => {
  const vault = await currentVault(tx)
  const row = vault === null ? undefined : await lockPoint(tx, vault, id)
  if (row === undefined) throw notFound('point')
  return row
}

/** Keeps a point beyond the plan, or not. 404 for one that this vault does not have. */
export const pinPoint = ({ database, clock }: PointDeps, id: string, pinned: boolean, actor: Actor): Promise<Point> =>
  changeAuthority(database, actor, async (tx) => {
    const row = await lockCurrentPoint(tx, id)
    const changed = { ...row, pinned: pinned ? 1 : 0 } as const
    if (row.pinned === changed.pinned) return pointView(row)
    await updatePoint(tx, id, { pinned: changed.pinned })
    const action = pinned ? 'backup-point.pin' : 'backup-point.unpin'
    await appendSecurityAudit(tx, actor, { action, subject: `backup-point:${id}`, occurredAt: timestamp(clock.now()) })
    return pointView(changed)
  })

/**
 * Gives a point up: nobody sees it any more, and the agent takes it out of the vault. `confirm` is the moment that it
 * shows, as whoever gives it up has typed it. 404 for one that this vault does not have, 409 `point_pinned`.
 */
export const giveUpPoint = ({ database, clock }: PointDeps, id: string, confirm: string, actor: Actor): Promise<void> =>
  changeAuthority(database, actor, async (tx) => {
    const row = await lockCurrentPoint(tx, id)
    if (confirm !== row.snapshot_at)
      throw invalid('/confirm', `must be the snapshotAt of the point, ${row.snapshot_at}`)
    if (row.pinned === 1)
      throw new Failure('point_pinned', 'The point is pinned. Unpin it first: PUT …/pin with {"pinned": false}.')
    const now = timestamp(clock.now())
    await updatePoint(tx, id, { forgotten_at: now })
    await askForRetention(tx, clock.now())
    await appendSecurityAudit(tx, actor, {
      action: 'backup-point.delete',
      subject: `backup-point:${id}`,
      occurredAt: now,
    })
  })

/** Every point of a vault that nobody gave up, newest first. There are some hundred, as many as the plan keeps. */
export const pointsOfVault = (q: Queries, vault: string): Promise<PointRow[]> => listPoints(q, vault, null, 100_000)

/** Those of which the manifest is there. */
export const lyingPoints = async (q: Queries, vault: string): Promise<PointRow[]> =>
  (await pointsOfVault(q, vault)).filter(isLying)

export const isLying = ({ missing_since }: PointRow): boolean => missing_since === null

/** What a manifest says of its point. `foundAt`: since when it is known, where it was not taken here. */
const pointRowOf = (content: ManifestContent, foundAt: string | null): PointRow => ({
  id: content.id,
  vault_id: content.vault,
  snapshot_at: content.snapshotAt,
  completed_at: content.completedAt,
  blobs: content.blobs.count,
  content_bytes: content.blobs.bytes,
  new_bytes: content.newBytes,
  table_count: content.tables.length,
  row_count: content.tables.reduce((sum, { rows }) => sum + rows, 0),
  pinned: foundAt === null ? 0 : 1,
  verified_at: null,
  verify_depth: null,
  verify_error: null,
  forgotten_at: null,
  found_at: foundAt,
  missing_since: null,
})

/** Writes down a point that was taken here. */
export const recordPoint = (tx: Transaction, content: ManifestContent): Promise<void> =>
  insertPoint(tx, pointRowOf(content, null))

/**
 * Writes down a point that was found in the vault. Unless it is that of a capture of this database which could not say
 * so, it is pinned: whoever took it may have been told that it is, and no plan of here was made for it.
 */
export const adoptPoint = async (tx: Transaction, content: ManifestContent, nowMs: number): Promise<void> => {
  const job = await findBackupJob(tx, content.id)
  const unrecorded = job?.kind === 'capture' && job.point_id === null
  await insertPoint(tx, pointRowOf(content, unrecorded ? null : timestamp(nowMs)))
}

/**
 * Marks the points of a vault that the plan lets go, so that nobody is told any more that one of them is kept, and
 * answers all that are to go. Without a plan that somebody has saved none of them goes.
 */
export const letGo = async (tx: Transaction, vault: string, nowMs: number): Promise<string[]> => {
  const plan = await findPlanRow(tx)
  // One of a clock that was ahead is not the newest, and takes the place of none.
  const points = (await lockPoints(tx, vault))
    .filter(isLying)
    .filter(({ snapshot_at }) => !isOfFuture(snapshot_at, nowMs))
  const known = points.map((point) => ({
    id: point.id,
    snapshotAtMs: Date.parse(point.snapshot_at),
    // What nobody has read here neither goes nor is a reason for another one to go.
    pinned: point.pinned === 1 || isUnread(point),
    sound: point.verify_error === null && !isUnread(point),
  }))
  const going = plan === undefined ? [] : pointsToForget(known, plan, plan.timezone)
  for (const id of going) await updatePoint(tx, id, { forgotten_at: timestamp(nowMs) })
  return await givenUpPoints(tx, vault)
}

/** Found, and not read to its last byte since: nobody here knows whether it is sound. */
const isUnread = ({ found_at, verify_depth, verify_error }: PointRow): boolean =>
  found_at !== null && verify_depth !== 'deep' && verify_error === null

/** Points whose manifests were taken out of the vault. They stay known for a while: a copy of them may come back. */
export const noteTakenOut = (tx: Transaction, ids: readonly string[], nowMs: number): Promise<void> =>
  notePresence(tx, ids, timestamp(nowMs))

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
  const shares = (await sharesRead(q, vault)).filter(({ read_at }) => !isOfFuture(read_at, nowMs))
  const read = new Map(shares.map(({ share, read_at }) => [share, Date.parse(read_at)]))
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
    for (const point of await lyingPoints(tx, vault))
      if (
        point.completed_at <= since &&
        (point.found_at ?? '') <= since &&
        point.verify_error === null &&
        !found.faulty.has(point.id)
      )
        await noteVerified(tx, point.id, 'deep', null, nowMs)
  })
}
