import { DatabaseUnavailable } from '../unavailable.ts'

/** Primary result codes of SQLite, https://www.sqlite.org/rescode.html. */
const busy = 5
const locked = 6
const full = 13
const broken: ReadonlyMap<number, string> = new Map([
  [7, 'SQLite is out of memory'],
  [10, 'reading or writing the database file failed'],
  [11, 'the database file is damaged'],
  [full, 'the disk of the database is full'],
  [14, 'the database file cannot be opened'],
  [26, 'the file is not a database'],
])

const primaryCode = (error: unknown): number | undefined => {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

/** Another connection holds what this one needs; it will let go. */
export const isBusy = (error: unknown): boolean => {
  const code = primaryCode(error)
  return code === busy || code === locked
}

/**
 * What passes and has damaged nothing: somebody is in the way, or there is no room. What was not copied stays in the
 * log.
 */
export const isPassing = (error: unknown): boolean =>
  isBusy(error) || (error instanceof DatabaseUnavailable && error.diskFull)

/**
 * Errors of the engine become `DatabaseUnavailable`; errors of the query (and busy ones, to be retried) stay as they
 * are.
 */
export const translated = (error: unknown): unknown => {
  if (error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE') {
    return new DatabaseUnavailable('The database is closed.', { cause: error })
  }
  const code = primaryCode(error)
  const reason = broken.get(code ?? 0)
  return reason === undefined
    ? error
    : new DatabaseUnavailable(`The database does not work: ${reason}.`, { cause: error, diskFull: code === full })
}
