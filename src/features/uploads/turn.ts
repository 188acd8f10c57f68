import type { Database } from '../../database/database.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { uploadTurnMs } from '../../kernel/limits.ts'
import { endTurn, renewTurn } from './uploads.queries.ts'

/**
 * One request at a time per upload, across processes: a lease in the upload's row. Its holder renews it while bytes
 * come; when the holder's process dies it lapses and another request may take over.
 */
export interface TurnParts {
  readonly database: Database
  readonly clock: Clock
  readonly report: (message: string, error: unknown) => void
}

export const turnEnd = (nowMs: number): string => timestamp(nowMs + uploadTurnMs)

/** Runs the work while renewing the turn. The turn itself was taken by the caller, in the transaction that looked. */
export const whileRenewing = async <T>(
  parts: TurnParts,
  uploadId: string,
  holder: string,
  work: () => Promise<T>,
): Promise<T> => {
  const renew = (): void => {
    parts.database
      .transaction((tx) => renewTurn(tx, uploadId, holder, turnEnd(parts.clock.now())), { durability: 'relaxed' })
      .catch((error: unknown) => parts.report('the turn of an upload could not be renewed', error))
  }
  const timer = setInterval(renew, uploadTurnMs / 3)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

/** Gives the turn back, for the next try. */
export const leaveTurn = (parts: TurnParts, uploadId: string, holder: string): Promise<void> =>
  parts.database.transaction((tx) => endTurn(tx, uploadId, holder), { durability: 'relaxed' })
