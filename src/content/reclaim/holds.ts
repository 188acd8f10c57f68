import type { Database, Transaction } from '../../database/database.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { newId } from '../../kernel/ids.ts'
import { reclaimHoldMs } from '../../kernel/limits/upkeep.ts'
import type { Timers } from '../../kernel/timers.ts'
import { anyHold, closeGate, deleteHold, deleteLapsedHolds, insertHold, passGate, renewHold } from './holds.queries.ts'

export interface HoldDeps {
  readonly database: Database
  readonly clock: Clock
  readonly timers: Timers
  readonly report: (message: string, error: unknown) => void
}

/** Reclaim was not held back all the time: bytes that were there at the beginning may be gone. */
class HoldLost extends Error {
  override readonly name = 'HoldLost'
}

/**
 * Runs `work` while no bytes are reclaimed that are stored when it begins: whatever a snapshot taken by `work` calls
 * stored stays, as long as `check` does not throw {@link HoldLost}.
 *
 * A hold is a row with a lease. Reclaim looks for it in the transaction that marks bytes, behind a gate (a row's lock)
 * that whoever makes a hold closes for a moment: so each mark is either committed before the hold, and shows in every
 * snapshot taken under it, or sees the hold. What was marked before is still removed, since publishers wait for it.
 *
 * A dead holder stops reclaim for no longer than its lease. Whoever takes a hold for lapsed deletes it, so that its
 * holder cannot renew it and learns what happened, however far apart their clocks are.
 */
export const withHold = async <T>(
  deps: HoldDeps,
  purpose: string,
  work: (check: () => void) => Promise<T>,
): Promise<T> => {
  const { database, clock, timers, report } = deps
  const id = newId(clock.now())
  const endsAt = (): string => timestamp(clock.now() + reclaimHoldMs)
  await database.transaction(async (tx) => {
    await closeGate(tx)
    await insertHold(tx, { id, purpose, ends_at: endsAt() })
  })
  const ended = new AbortController()
  let lost = false
  const renewing = (async () => {
    while (await pauseUnless(timers, ended.signal, reclaimHoldMs / 4)) {
      try {
        lost = !(await database.transaction((tx) => renewHold(tx, id, timestamp(clock.now()), endsAt())))
      } catch (error) {
        // A database that is away for a moment may be back before the lease lapses.
        report('The hold on reclaim could not be renewed', error)
      }
      if (lost) return
    }
  })()
  try {
    return await work(() => {
      if (lost)
        throw new HoldLost(
          'Reclaim could not be held back all the time, so that stored bytes may be gone. Run the same command again.',
        )
    })
  } finally {
    ended.abort()
    await renewing
    // If this fails, it lapses.
    await database
      .transaction((tx) => deleteHold(tx, id))
      .catch((error: unknown) => report('The hold on reclaim stays until it lapses', error))
  }
}

/** Waits; false when it was ended meanwhile. */
const pauseUnless = async (timers: Timers, signal: AbortSignal, ms: number): Promise<boolean> => {
  if (signal.aborted) return false
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = timers.after(ms, resolve)
  signal.addEventListener('abort', () => resolve(), { once: true })
  await promise
  stop()
  return !signal.aborted
}

/** Whether nothing may be marked in this transaction. Forgets what has lapsed. Before the locks of blobs. */
export const heldBack = async (tx: Transaction, nowMs: number): Promise<boolean> => {
  await passGate(tx)
  await deleteLapsedHolds(tx, timestamp(nowMs))
  return anyHold(tx, timestamp(nowMs))
}

/** Whether reclaim is most likely held back, to be asked before it goes through its queue. */
export const seemsHeldBack = ({ database, clock }: Pick<HoldDeps, 'database' | 'clock'>): Promise<boolean> =>
  anyHold(database.reader, timestamp(clock.now()))
