import { setTimeout as pause } from 'node:timers/promises'
import type { DatabaseConnection } from 'kysely'
import { transactionAttemptsMax, transactionPauseFirstMs, transactionPauseLongestMs } from '../kernel/limits/engines.ts'
import type { Transaction } from './database.ts'
import { type EngineDialect, transactionOn } from './executor.ts'
import { Scope } from './scope.ts'
import { DatabaseUnavailable } from './unavailable.ts'

/** A transaction that has begun on some connection. */
export interface Session extends DatabaseConnection {
  readonly sequential: boolean
  commit(): Promise<void> | void
  rollback(): Promise<void> | void
}

export interface Outcome<T> {
  readonly value: T
  readonly scope: Scope
}

/** Runs the work once in the session and commits; on any error it rolls back and throws that error. */
export const runOnce = async <T>(
  dialect: EngineDialect,
  session: Session,
  work: (tx: Transaction) => Promise<T>,
): Promise<Outcome<T>> => {
  const scope = new Scope(session, session.sequential)
  try {
    const value = await scope.run(work, transactionOn(dialect, scope))
    await scope.end()
    if (scope.failed) throw scope.failure
    await session.commit()
    return { value, scope }
  } catch (error) {
    await scope.end()
    await session.rollback()
    throw error
  }
}

/** Repeats what failed for a passing reason, with growing pauses of random length so that rivals do not meet again. */
export const withRetries = async <T>(attempt: () => Promise<T>, passing: (error: unknown) => boolean): Promise<T> => {
  for (let made = 1; ; made++) {
    try {
      return await attempt()
    } catch (error) {
      if (!passing(error)) throw error
      if (made >= transactionAttemptsMax) {
        throw new DatabaseUnavailable(`The transaction met others ${made} times in a row; giving up.`, { cause: error })
      }
    }
    await pause(Math.random() * Math.min(transactionPauseFirstMs * 2 ** made, transactionPauseLongestMs))
  }
}
