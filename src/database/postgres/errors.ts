import { DatabaseError } from 'pg'
import { DatabaseUnavailable } from '../unavailable.ts'

/** serialization_failure and deadlock_detected: the transaction was fine, its neighbours were in the way. */
const passing: ReadonlySet<string> = new Set(['40001', '40P01'])

/**
 * Classes of SQLSTATE that speak of the server, not of the query: connection exception, invalid authorization, no such
 * database, resources, operator (who may cancel a query), system.
 */
const serverClasses: ReadonlySet<string> = new Set(['08', '28', '3D', '53', '57', '58', 'XX'])

/** Time-outs of other classes: a transaction stood still, took too long, or waited too long for a lock. */
const timeouts: ReadonlySet<string> = new Set(['25P03', '25P04', '55P03'])

const diskFull = '53100'

const codeOf = (error: unknown): string | undefined => (error instanceof DatabaseError ? error.code : undefined)

export const isPassing = (error: unknown): boolean => passing.has(codeOf(error) ?? '')

/** Whether the server itself said it: then the connection is as good as before, unless the server ends it. */
export const saidByServer = (error: unknown): boolean => error instanceof DatabaseError

/** Errors of the server and of the way to it become `DatabaseUnavailable`; errors of the query stay as they are. */
export const translated = (error: unknown): unknown => {
  if (error instanceof DatabaseUnavailable || error instanceof TypeError || error instanceof RangeError) return error
  if (error instanceof DatabaseError) {
    const code = error.code ?? ''
    if (code === diskFull)
      return new DatabaseUnavailable('The disk of the database is full.', { cause: error, diskFull: true })
    if (timeouts.has(code)) return new DatabaseUnavailable('The database is kept waiting.', { cause: error })
    if (!serverClasses.has(code.slice(0, 2))) return error
  }
  return unavailable(error)
}

export const unavailable = (cause: unknown): DatabaseUnavailable =>
  new DatabaseUnavailable('The database server does not answer as it should.', { cause })

/** For what is read outside of a transaction, which nobody tries again: a server that follows another may cancel it. */
export const translatedRead = (error: unknown): unknown => (isPassing(error) ? unavailable(error) : translated(error))
