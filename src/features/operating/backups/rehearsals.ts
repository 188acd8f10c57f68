import type { Database, Queries } from '../../../database/database.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { rehearsalEveryMs, rehearsalsKeptMs, rehearsalTriedEveryMs } from '../../../kernel/limits/backups.ts'
import { untilNow } from './keeping.ts'
import type { Manifest } from './manifest.ts'
import { currentVault, lyingPoints } from './points.ts'
import { endRehearsalRow, forgetRehearsals, insertRehearsal, lastRehearsal } from './rehearsals.queries.ts'

interface Deps {
  readonly database: Database
  readonly clock: Clock
}

/** What came of a restore that was tried. */
export interface Rehearsed {
  readonly rows: number
  readonly blobs: number
  readonly answers: number
  /** Null where everything was as the point says. */
  readonly errorCode: string | null
}

/** Notes that a restore of a point is being tried. */
export const beginRehearsal = ({ database, clock }: Deps, id: string, point: Manifest): Promise<void> =>
  database.transaction((tx) =>
    insertRehearsal(tx, {
      id,
      vault_id: point.vault,
      point_id: point.id,
      snapshot_at: point.snapshotAt,
      begun_at: timestamp(clock.now()),
      ended_at: null,
      error_code: null,
      ...nothingYet,
    }),
  )

const nothingYet = { row_count: 0, blobs: 0, answers: 0 } as const

/** Notes that a restore was to be tried, and that of no point could be said that it is the newest. */
export const noteRefusedRehearsal = ({ database, clock }: Deps, id: string, errorCode: string): Promise<void> =>
  database.transaction(async (tx) => {
    const vault = await currentVault(tx)
    const [newest] = vault === null ? [] : await lyingPoints(tx, vault)
    // It is of that one, as far as anybody knows here.
    if (newest === undefined) return
    const now = timestamp(clock.now())
    await insertRehearsal(tx, {
      id,
      vault_id: newest.vault_id,
      point_id: newest.id,
      snapshot_at: newest.snapshot_at,
      begun_at: now,
      ended_at: now,
      error_code: errorCode,
      ...nothingYet,
    })
  })

/** Notes that a restore that was being tried is not any more, and that nobody could say what came of it. */
export const endDeadRehearsal = ({ database, clock }: Deps, id: string): Promise<void> =>
  database.transaction((tx) => endRehearsalRow(tx, id, { ended_at: timestamp(clock.now()), error_code: 'interrupted' }))

/** Notes what came of it. The last that proved something stays, however old it is. */
export const endRehearsal = (
  { database, clock }: Deps,
  id: string,
  vault: string,
  { rows, blobs, answers, errorCode }: Rehearsed,
): Promise<void> =>
  database.transaction(async (tx) => {
    const ended = { ended_at: timestamp(clock.now()), error_code: errorCode, row_count: rows, blobs, answers }
    await endRehearsalRow(tx, id, ended)
    const proven = await lastRehearsal(tx, vault, untilNow(clock.now()), true)
    await forgetRehearsals(tx, timestamp(clock.now() - rehearsalsKeptMs), proven?.id ?? id)
  })

/** Whether a month has passed since a restore was proven, and a day since one was tried. */
export const rehearsalIsDue = async (q: Queries, vault: string, nowMs: number): Promise<boolean> => {
  const until = untilNow(nowMs)
  const [tried, proven] = [await lastRehearsal(q, vault, until, false), await lastRehearsal(q, vault, until, true)]
  if (tried !== undefined && Date.parse(tried.begun_at) > nowMs - rehearsalTriedEveryMs) return false
  return proven === undefined || Date.parse(proven.begun_at) <= nowMs - rehearsalEveryMs
}

/** The last restore that was proven, and why the last one that was tried failed, if it did. */
export const provenRestore = async (
  q: Queries,
  vault: string | null,
  nowMs: number,
): Promise<{
  readonly lastProven: { pointId: string; snapshotAt: string; provenAt: string } | null
  readonly rehearsalError: string | null
}> => {
  if (vault === null) return { lastProven: null, rehearsalError: null }
  const until = untilNow(nowMs)
  const [tried, proven] = [await lastRehearsal(q, vault, until, false), await lastRehearsal(q, vault, until, true)]
  return {
    lastProven:
      proven === undefined
        ? null
        : { pointId: proven.point_id, snapshotAt: proven.snapshot_at, provenAt: proven.ended_at ?? proven.begun_at },
    rehearsalError: tried?.error_code ?? null,
  }
}
