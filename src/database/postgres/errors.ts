import { DatabaseError } from 'pg'
import { DatabaseUnavailable } from '../unavailable.ts'

/** serialization_failure and deadlock_detected: the transaction was fine, its neighbours were in the way. */
const passing: ReadonlySet<string> = new Set(['40001', '40P01'])

/** Classes of SQLSTATE that speak of the server, not of the query: connection exception, resources, operator, system. */
const serverClasses: ReadonlySet<string> = new Set(['08', '53', '57', '58', 'XX'])

/** query_canceled belongs to class 57 but says that somebody stopped this one query. */
const cancelled = '57014'
const diskFull = '53100'

export const isPassing = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code !== undefined && passing.has(error.code)

/** Errors of the server and of the way to it become `DatabaseUnavailable`; errors of the query stay as they are. */
export const translated = (error: unknown): unknown => {
  if (error instanceof DatabaseUnavailable || error instanceof TypeError || error instanceof RangeError) return error
  if (error instanceof DatabaseError) {
    const code = error.code ?? ''
    if (!serverClasses.has(code.slice(0, 2)) || code === cancelled) return error
    if (code === diskFull)
      return new DatabaseUnavailable('The disk of the database is full.', { cause: error, diskFull: true })
  }
  return new DatabaseUnavailable('The database server does not answer as it should.', { cause: error })
}
