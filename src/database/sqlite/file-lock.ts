import { closeSync, openSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** `exclusive` is for one alone; `shared` is for any number, while nobody has it exclusively. */
export type LockMode = 'exclusive' | 'shared'

/**
 * A lock between processes that the system gives back when its process ends, however it ends: nothing stays stuck. Null
 * when somebody else has it. The file is made if it is missing, and always empty; who holds a lock on it may not move
 * it.
 *
 * Node has no locks of files, SQLite has: this is a database that nothing is ever written to. Like every lock of a file
 * it is known on one machine, and on others as far as the file system tells them.
 */
export const lockFile = (path: string, mode: LockMode): Disposable | null => {
  create(path)
  if (statSync(path).size > 0) throw new Error(`${path} is not empty, so svc did not make it. Move it away.`)
  const database = new DatabaseSync(path, { timeout: 0, readOnly: mode === 'shared' })
  try {
    // The first is a lock by itself. The second begins with a look; what was looked at stays locked until the end.
    // Its journal stays in memory: beginning a database that is empty prepares its first page.
    if (mode === 'exclusive') database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    else database.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
    return { [Symbol.dispose]: () => database.close() }
  } catch (error) {
    database.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return null
    throw new Error(`${path} cannot be locked (${error instanceof Error ? error.message : String(error)}).`, {
      cause: error,
    })
  }
}

/** SQLITE_BUSY */
const busy = 5

/** A file that is there is not opened: closing it would end a lock of this process (close(2) and POSIX locks). */
const create = (path: string): void => {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
