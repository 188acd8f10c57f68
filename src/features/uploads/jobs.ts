import { release } from '../../content/claims.ts'
import { discardEndedAssemblies, type StagingParts, sweepStaging } from '../../content/staging.ts'
import type { Database } from '../../database/database.ts'
import { timestamp } from '../../kernel/clock.ts'
import { upkeepBatch, uploadLifetimeMs } from '../../kernel/limits.ts'
import { sessionsOfDisabled } from './administration.queries.ts'
import {
  deleteUpload,
  expiredSessions,
  forgottenUploads,
  lapsedTransfers,
  lockUpload,
  placesInUse,
} from './uploads.queries.ts'
import { cancel } from './uploads.ts'

export interface UploadUpkeepParts extends StagingParts {
  readonly database: Database
}

type Row = { id: string }

/** Runs one short transaction for each row found, in batches, until a batch is not full. Each looks again under its lock. */
const each = async (find: () => Promise<Row[]>, settle: (id: string) => Promise<void>): Promise<void> => {
  for (;;) {
    const rows = await find()
    for (const { id } of rows) await settle(id)
    if (rows.length < upkeepBatch) return
  }
}

/**
 * What time does to uploads; an idempotent function of the database. Sessions past their end are cancelled, and those of disabled accounts; transfers of
 * dead processes give their room back, and records are forgotten seven days after they ended. What cancelled sessions
 * reserve is given back with what deleted files do.
 */
export const settleUploads = async (parts: UploadUpkeepParts): Promise<void> => {
  const { database, clock } = parts
  const now = timestamp(clock.now())
  const before = (ms: number): string => timestamp(clock.now() - ms)
  await each(
    () => expiredSessions(database.reader, now, upkeepBatch),
    (id) =>
      database.transaction(async (tx) => {
        const row = await lockUpload(tx, id)
        const idle = row?.turn_until === null || (row?.turn_until ?? '') <= now
        if (row?.status === 'pending' && row.expires_at <= now && idle) await cancel(tx, row, now)
      }),
  )
  // Whoever was disabled ends no session; what they reserved is for others.
  await each(
    () => sessionsOfDisabled(database.reader, upkeepBatch),
    (id) =>
      database.transaction(async (tx) => {
        const row = await lockUpload(tx, id)
        if (row?.status === 'pending') await cancel(tx, row, now)
      }),
  )
  await each(
    () => lapsedTransfers(database.reader, now, upkeepBatch),
    (id) =>
      database.transaction(async (tx) => {
        const row = await lockUpload(tx, id)
        if (row?.kind !== 'raw' || row.turn_until === null || row.turn_until > now) return
        await release(tx, id, now)
        await deleteUpload(tx, id)
      }),
  )
  await each(
    () => forgottenUploads(database.reader, before(uploadLifetimeMs), upkeepBatch),
    (id) => database.transaction((tx) => deleteUpload(tx, id)),
  )
}

/** Removes what dead transfers and ended sessions left in staging. */
export const sweepUploads = async (parts: UploadUpkeepParts): Promise<number> => {
  await discardEndedAssemblies(parts)
  const now = timestamp(parts.clock.now())
  return sweepStaging(parts, (remains) => placesInUse(parts.database.reader, remains, now))
}
