import { discardEndedAssemblies, type StagingDeps, sweepStaging } from '../../../content/assembly/staging.ts'
import { release } from '../../../content/claims/claims.ts'
import type { Database, Transaction } from '../../../database/database.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { uploadLifetimeMs } from '../../../kernel/limits/transfers.ts'
import { upkeepRun } from '../../../kernel/one-by-one.ts'
import { isDisabled, sessionsOfDisabled } from './administration.queries.ts'
import {
  deleteUpload,
  expiredSessions,
  forgottenUploads,
  lapsedTransfers,
  lockUpload,
  placesInUse,
} from './uploads.queries.ts'
import { cancel } from './uploads.ts'

export interface UploadUpkeepDeps extends StagingDeps {
  readonly database: Database
  readonly report: (message: string, error: unknown) => void
}

/**
 * What time does to uploads; an idempotent function of the database. Sessions past their end are cancelled, and those
 * of disabled accounts; transfers of dead processes give their room back, and records are forgotten seven days after
 * they ended. What cancelled sessions reserve is given back with what deleted files do. An upload that fails is passed
 * over.
 */
export const settleUploads = async (deps: UploadUpkeepDeps): Promise<void> => {
  const { database, clock } = deps
  const now = timestamp(clock.now())
  const run = upkeepRun(deps.report)
  /** One short transaction for each row found; each looks again under its lock. */
  const each = (
    step: string,
    find: (limit: number) => Promise<{ id: string }[]>,
    settle: (tx: Transaction, row: UploadsTable | undefined, id: string) => Promise<unknown>,
  ): Promise<unknown> =>
    run.each(step, {
      what: ({ id }) => `${step}: upload ${id}`,
      key: ({ id }) => id,
      find,
      work: ({ id }) => database.transaction(async (tx) => settle(tx, await lockUpload(tx, id), id)),
    })
  await each(
    'ending expired sessions',
    (limit) => expiredSessions(database.reader, now, limit),
    async (tx, row) => {
      const idle = row?.turn_until === null || (row?.turn_until ?? '') <= now
      if (row?.status === 'pending' && row.expires_at <= now && idle) await cancel(tx, row, now)
    },
  )
  // Whoever was disabled ends no session; what they reserved is for others.
  await each(
    'ending the sessions of disabled accounts',
    (limit) => sessionsOfDisabled(database.reader, limit),
    async (tx, row) => {
      if (row?.status === 'pending' && (await isDisabled(tx, row.owner))) await cancel(tx, row, now)
    },
  )
  await each(
    'giving back what dead transfers reserved',
    (limit) => lapsedTransfers(database.reader, now, limit),
    async (tx, row, id) => {
      if (row?.kind !== 'raw' || row.turn_until === null || row.turn_until > now) return
      await release(tx, id, now)
      await deleteUpload(tx, id)
    },
  )
  const before = timestamp(clock.now() - uploadLifetimeMs)
  await each(
    'forgetting uploads that ended long ago',
    (limit) => forgottenUploads(database.reader, before, limit),
    (tx, _row, id) => deleteUpload(tx, id),
  )
  run.end()
}

/** Removes what dead transfers and ended sessions left in staging. How many places went. */
export const sweepUploads = async (deps: UploadUpkeepDeps): Promise<number> => {
  const run = upkeepRun(deps.report)
  const now = timestamp(deps.clock.now())
  await discardEndedAssemblies(deps, run)
  const swept = await sweepStaging(deps, run, (remains) => placesInUse(deps.database.reader, remains, now))
  run.end()
  return swept
}
