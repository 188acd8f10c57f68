import type { Database, Transaction } from '../../../database/database.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure } from '../../../kernel/failure.ts'
import { newId } from '../../../kernel/ids.ts'
import { uploadTurnMs } from '../../../kernel/limits/transfers.ts'
import type { LeftTurns } from './left-turns.ts'
import { ended, lockOwn, type Session, type UploadScope } from './session.ts'
import { endTurn, renewTurn, setTurn } from './uploads.queries.ts'

/**
 * One request at a time per upload, across processes: a lease in the upload's row. Its holder renews it while bytes
 * come; when the holder's process dies it lapses and another request may take over.
 */
export interface TurnParts {
  readonly database: Database
  readonly clock: Clock
  readonly leftTurns: LeftTurns
  readonly report: (message: string, error: unknown) => void
}

export interface Turn {
  /** Also names the staging place of a whole file. */
  readonly holder: string
  /**
   * Throws 503 `busy` unless the turn is surely ours: it stops well before the lease ends, whichever clock says so, so
   * that a write that is already with the disk ends before somebody else's begins.
   */
  assertHeld(): void
  /** Gives the turn back in the transaction that ends the work; fails it unless the turn is ours. */
  end(tx: Transaction): Promise<void>
}

export const turnEnd = (nowMs: number): string => timestamp(nowMs + uploadTurnMs)

const lost = (): Failure => new Failure('busy', 'Another request has taken this upload over.', { retryAfterSeconds: 5 })

/**
 * Takes the turn of a pending session and works under it. Whoever works ends the turn; when that fails it is given back
 * here. 404 for others' uploads, 409 `upload_state` unless the session is pending, 503 `busy` while another has the turn.
 */
export const withTurn = async <T>(
  parts: TurnParts,
  scope: UploadScope,
  id: string,
  work: (session: Session, turn: Turn) => Promise<T>,
): Promise<T> => {
  const holder = newId(parts.clock.now())
  const session = await takeTurn(parts, scope, id, holder)
  try {
    return await whileRenewing(parts, id, holder, (assertHeld) =>
      work(session, {
        holder,
        assertHeld,
        end: async (tx) => {
          if (!(await endTurn(tx, id, holder))) throw lost()
        },
      }),
    )
  } catch (error) {
    await leaveTurn(parts, id, holder).catch((second: unknown) => {
      parts.leftTurns.add(holder)
      parts.report('the turn of an upload could not be given back; to other processes it lapses by itself', second)
    })
    throw error
  }
}

const takeTurn = (parts: TurnParts, scope: UploadScope, id: string, holder: string): Promise<Session> =>
  parts.database.transaction(
    async (tx) => {
      const session = await lockOwn(tx, scope, id)
      const nowMs = parts.clock.now()
      const now = timestamp(nowMs)
      if (session.status !== 'pending') throw ended(session)
      if (session.expires_at <= now)
        throw new Failure('upload_state', 'The upload session has expired; start a new one.')
      const left = session.turn_holder !== null && parts.leftTurns.has(session.turn_holder)
      if (session.turn_until !== null && session.turn_until > now && !left)
        throw new Failure('busy', 'Another request is sending to this upload.', { retryAfterSeconds: 5 })
      await setTurn(tx, { id, holder, until: turnEnd(nowMs) })
      return session
    },
    { durability: 'relaxed' },
  )

/** Runs the work while renewing the turn, which the caller took. */
export const whileRenewing = async <T>(
  parts: TurnParts,
  uploadId: string,
  holder: string,
  work: (assertHeld: () => void) => Promise<T>,
): Promise<T> => {
  const watch = (): { wallMs: number; monotonicMs: number } => ({
    wallMs: parts.clock.now(),
    monotonicMs: performance.now(),
  })
  let renewed = watch()
  let isLost = false
  const renew = async (): Promise<void> => {
    const asked = watch()
    const until = turnEnd(asked.wallMs)
    const ours = await parts.database.transaction((tx) => renewTurn(tx, uploadId, holder, until), {
      durability: 'relaxed',
    })
    if (ours) renewed = asked
    else isLost = true
  }
  const timer = setInterval(() => {
    renew().catch((error: unknown) => parts.report('the turn of an upload could not be renewed', error))
  }, uploadTurnMs / 3)
  const assertHeld = (): void => {
    const now = watch()
    const silentMs = Math.max(now.wallMs - renewed.wallMs, now.monotonicMs - renewed.monotonicMs)
    if (isLost || silentMs > (uploadTurnMs * 2) / 3) throw lost()
  }
  try {
    return await work(assertHeld)
  } finally {
    clearInterval(timer)
  }
}

/** Gives the turn back, for the next try. */
const leaveTurn = (parts: TurnParts, uploadId: string, holder: string): Promise<unknown> =>
  parts.database.transaction((tx) => endTurn(tx, uploadId, holder), { durability: 'relaxed' })
