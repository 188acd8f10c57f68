import { setImmediate as nextRound, setTimeout as pause } from 'node:timers/promises'
import { databaseConnectMs, sqliteLockPauseMs } from '../../kernel/limits/engines.ts'
import type { Session } from '../attempts.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { SqliteConnection } from './connection.ts'
import { isBusy } from './errors.ts'
import { SharedCommits } from './shared-commits.ts'
import { WriterQueue } from './writer-queue.ts'

/** The one connection that writes, and the queue before it. */
export class Writer {
  readonly connection: SqliteConnection
  readonly #queue = new WriterQueue()
  readonly #shared: SharedCommits
  readonly #session: Session
  #closed = false

  /** `committed` is told of each commit that changed something, before anybody can see it. */
  constructor(path: string, committed: () => void) {
    this.connection = new SqliteConnection(path, false)
    this.#session = sessionOn(this.connection)
    this.#shared = new SharedCommits(this.connection, () => begin(this.connection), committed)
    try {
      prepareFile(this.connection)
    } catch (error) {
      this.connection.close()
      throw error
    }
  }

  /**
   * Runs `work` in turn, in a transaction whose commit it shares with others that come before the event loop turns
   * (`shared-commits.ts`). Nothing begins before it has turned, and nothing is open when it turns again: other
   * processes want the file as well. Resolves when it is committed.
   */
  async run<T>(work: (session: Session) => Promise<T>): Promise<T> {
    this.#mustBeOpen()
    await this.#queue.enter()
    let shared: { readonly outcome: Promise<T> }
    try {
      if (!this.#shared.isOpen) await nextRound()
      shared = await this.#shared.join(() => work(this.#session))
      if (!this.#queue.goesOn) await this.#shared.finish()
    } finally {
      this.#queue.leave()
    }
    return await shared.outcome
  }

  /** Runs `work` in turn, in a transaction of its own that it has to end. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    this.#mustBeOpen()
    await this.#queue.enter()
    try {
      await this.#shared.finish()
      await begin(this.connection)
      return await work()
    } finally {
      this.#queue.leave()
    }
  }

  /** Runs `work` while nobody of this process writes. It goes before all who wait. */
  async inTheWay(work: () => Promise<void>): Promise<void> {
    await this.#queue.enterNext()
    try {
      await this.#shared.finish()
      await work()
    } finally {
      this.#queue.leave()
    }
  }

  /** Waits for those who came before, then closes. */
  async close(beforeClosing: () => Promise<void>): Promise<void> {
    this.#closed = true
    await this.#queue.enter()
    await this.#shared.finish()
    await beforeClosing()
    this.connection.close()
  }

  /** Nobody writes any more, and nothing is closed. */
  end(): void {
    this.#closed = true
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new DatabaseUnavailable('The database is closed.')
  }
}

const prepareFile = (connection: SqliteConnection): void => {
  // Pages that are free can be given back to the disk only in a file that was made so; elsewhere this would be a write.
  if (connection.value('pragma page_count') === 0) connection.exec('pragma auto_vacuum = incremental')
  // The order matters: the change to WAL is synced in full (an empty database file would disown its log), then no more.
  const mode = connection.value('pragma journal_mode = wal')
  if (mode !== 'wal') {
    throw new DatabaseUnavailable(`The database needs a file system with shared memory (journal mode ${mode}).`)
  }
  connection.exec('pragma synchronous = normal')
  connection.exec('pragma checkpoint_fullfsync = on') // macOS: also the disk's own cache. Nothing elsewhere.
  connection.value('select count(*) from sqlite_schema') // The log is made by the first read.
  // A busy handler would wait with the event loop stopped; `begin` below waits without.
  connection.exec('pragma busy_timeout = 0')
}

/** Its end is not the session's business: the transaction is shared. */
const sessionOn = (connection: SqliteConnection): Session => ({
  sequential: true,
  executeQuery: (query) => connection.executeQuery(query),
  streamQuery: (query) => connection.streamQuery(query),
  commit: () => {},
  rollback: () => {},
})

const begin = async (connection: SqliteConnection): Promise<void> => {
  if (!began(connection)) await beginPatiently(connection)
}

const began = (connection: SqliteConnection): boolean => {
  try {
    connection.command('begin immediate')
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw error
  }
}

/** Another process writes. It will be done in milliseconds; nobody of ours can overtake meanwhile. */
const beginPatiently = async (connection: SqliteConnection): Promise<void> => {
  const deadline = performance.now() + databaseConnectMs
  for (let longest = 1; performance.now() < deadline; longest = Math.min(longest * 2, sqliteLockPauseMs)) {
    await pause(Math.random() * longest)
    if (began(connection)) return
  }
  throw new DatabaseUnavailable(`Another process has kept the database locked for ${databaseConnectMs} ms.`)
}
