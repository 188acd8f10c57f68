import { withRetries } from './attempts.ts'
import type { Database } from './database.ts'
import { isBusy } from './sqlite/errors.ts'

export interface OpenOptions {
  /** `sqlite:` and a path, or a `postgres://` address. */
  readonly url: string
  /**
   * Told about what fails beside any caller: lost idle connections, effects after a commit, a disk that cannot sync.
   */
  readonly report: (message: string, error: unknown) => void
  /** Told that what the disk holds is not known any more: the process has to end at once, without closing anything. */
  readonly lost?: (error: Error) => void
}

/** Opens a database and proves that it answers. It does not migrate. */
export const openDatabase = async ({ url, report, lost }: OpenOptions): Promise<Database> => {
  // Several processes may meet while the file is being made.
  const database = await withRetries(() => connect(url, report, lost), isBusy)
  try {
    await database.probe()
  } catch (error) {
    await database[Symbol.asyncDispose]()
    throw error
  }
  return database
}

/** Only the engine that is needed is loaded. */
const connect = async (url: string, report: OpenOptions['report'], lost: OpenOptions['lost']): Promise<Database> => {
  if (url.startsWith('sqlite:')) {
    const { SqliteDatabase } = await import('./sqlite/database.ts')
    return SqliteDatabase.open({ path: url.slice('sqlite:'.length), report, lost })
  }
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    const { PostgresDatabase } = await import('./postgres/database.ts')
    return new PostgresDatabase({ url, report })
  }
  throw new TypeError('A database address begins with sqlite: or postgres://.')
}
