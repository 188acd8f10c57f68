import { setImmediate as nextRound } from 'node:timers/promises'
import type { DatabaseConnection } from 'kysely'
import { Announcements } from '../announcements.ts'
import { runOnce, withRetries } from '../attempts.ts'
import type { Database, DatabaseLog, Queries, Transaction, TransactionOptions } from '../database.ts'
import { queriesOn } from '../executor.ts'
import { refuseInside, runEffects } from '../scope.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { sqliteDialect } from './compiler.ts'
import { SqliteConnection } from './connection.ts'
import { isBusy } from './errors.ts'
import { GroupSync } from './group-sync.ts'
import { LogCare } from './log-care.ts'
import { beginLog } from './log-keeper.ts'
import { openInOrder, suspect } from './opening.ts'
import { watchFiles } from './same-files.ts'
import { Snapshots } from './snapshots.ts'
import { openWalFile, type WalFile } from './wal-file.ts'
import { Writer } from './writer.ts'

export interface SqliteOptions {
  readonly path: string
  readonly report: (message: string, error: unknown) => void
  /**
   * Told, after `report`, that nothing can be made durable any more: the process has to end, without closing anything.
   */
  readonly lost?: ((error: Error) => void) | undefined
  /** Tests put power cuts and failing disks between us and the file. */
  readonly openWal?: (databasePath: string) => WalFile
}

/** A database in one file: one writer in turn, readers beside it, commits made durable in groups. */
export class SqliteDatabase implements Database {
  readonly engine = 'sqlite'
  readonly reader: Queries
  readonly patient: Database = this
  readonly #report: SqliteOptions['report']
  readonly #writer: Writer
  readonly #wal: WalFile
  readonly #sync: GroupSync
  readonly #reading: SqliteConnection
  readonly #snapshots: Snapshots
  readonly #announcements: Announcements
  readonly #care: LogCare
  readonly #path: string
  readonly #lost: SqliteOptions['lost']
  readonly #mustHaveFiles: () => Promise<void>
  #lock: Disposable | null = null
  #closing: Promise<void> | undefined

  /** Opens the file after whatever the last process on it left, as `opening.ts` says. */
  static open(options: SqliteOptions): Promise<SqliteDatabase> {
    return openInOrder(options.path, () => new SqliteDatabase(options))
  }

  constructor({ path, report, lost, openWal = openWalFile }: SqliteOptions) {
    this.#path = path
    this.#mustHaveFiles = watchFiles(path)
    this.#report = report
    this.#lost = lost
    this.#writer = new Writer(path, () => this.#sync.committed())
    this.#wal = openWal(path)
    const version = (): unknown => this.#writer.connection.value('pragma data_version')
    this.#sync = new GroupSync({ sync: () => this.#wal.sync(), version }, (error) => this.#poisoned(error))
    this.#reading = new SqliteConnection(path, true)
    this.#snapshots = new Snapshots(path)
    this.#announcements = new Announcements(report)
    this.reader = queriesOn(sqliteDialect, outside(this.#reading))
    this.#care = new LogCare({
      path,
      report,
      // Nobody can make the rest durable either: it fails as a failed sync does.
      lost: (cause) => this.#sync.fail(cause),
      withWriterWaiting: (work) => this.#writer.inTheWay(work),
    })
  }

  get log(): DatabaseLog {
    return this.#care
  }

  /** Copies the whole log into the file, synced, while nobody else has the database open, and begins it anew. */
  takeOverLog(): void {
    const { connection } = this.#writer
    const busy = connection.value('pragma wal_checkpoint(truncate)')
    if (Number(busy) !== 0)
      throw new DatabaseUnavailable(`Another program reads ${this.#path}. End it, then start again.`)
    beginLog(connection)
  }

  /** What is given back last; with it, the database may be used. */
  keepLock(lock: Disposable): void {
    this.#lock = lock
    for (const connection of [this.#reading, this.#writer.connection]) connection.keepPages()
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    refuseInside('A transaction was begun')
    const { value, scope } = await withRetries(
      () =>
        this.#writer.run(async (session) => {
          if (this.#sync.failure !== undefined) throw this.#sync.failure
          return await runOnce(sqliteDialect, session, work)
        }),
      isBusy,
    )
    if (options?.durability !== 'relaxed') await this.#sync.durable()
    if (scope.effects.length > 0) runEffects(scope, this.#report)
    if (scope.topics.size > 0) this.#announcements.tell(scope.topics)
    return value
  }

  async giveBack(bytes: number): Promise<number> {
    const { connection } = this.#writer
    const pageBytes = Number(connection.value('pragma page_size'))
    return await this.#writer.alone(async () => {
      const free = (): number => Number(connection.value('pragma freelist_count'))
      try {
        const before = free()
        connection.exec(`pragma incremental_vacuum(${Math.ceil(bytes / pageBytes)})`)
        const given = before - free()
        connection.command('commit')
        if (given > 0) this.#sync.committed()
        return given * pageBytes
      } catch (error) {
        if (connection.inTransaction) connection.command('rollback')
        throw error
      }
    })
  }

  listen(listener: (topic: string) => void): () => void {
    return this.#announcements.listen(listener)
  }

  async snapshot<T>(work: (q: Queries) => Promise<T>): Promise<T> {
    refuseInside('A snapshot was begun')
    this.#checkOpen()
    return await this.#snapshots.on(async (connection) => {
      await this.#sync.durable()
      return await work(queriesOn(sqliteDialect, connection))
    })
  }

  async settled(): Promise<void> {
    await this.#sync.durable()
  }

  async probe(): Promise<void> {
    this.#checkOpen()
    if (this.#sync.failure !== undefined) throw this.#sync.failure
    try {
      this.#reading.value('select count(*) from sqlite_schema')
    } catch (cause) {
      throw new DatabaseUnavailable('The database file cannot be read.', { cause })
    }
    await this.#mustHaveFiles()
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#care.stop()
    if (this.#sync.failure !== undefined) return this.#leaveOpen()
    await this.#writer.close(async () => {
      await nextRound() // The last transaction has left the queue, and has yet to ask whether it is durable.
      await this.#snapshots.close()
      await this.#sync.durable()
      this.#reading.close()
      this.#wal.close()
    })
    this.#lock?.[Symbol.dispose]()
  }

  /** The last one to close would copy a log of which nobody knows what of it is on the disk. */
  #leaveOpen(): void {
    leftOpen.add(this)
    this.#writer.end()
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new DatabaseUnavailable('The database is closed.')
  }

  #poisoned(cause: unknown): Error {
    const message =
      'Syncing the database to its disk failed. Nothing is acknowledged any more until the service restarts.'
    suspect(this.#path)
    this.#care.abandon()
    this.#report(message, cause)
    const error = new DatabaseUnavailable(message, { cause, outcomeUnknown: true })
    this.#lost?.(error)
    return error
  }
}

/** Kept from being collected, which would close them. */
const leftOpen = new Set<SqliteDatabase>()

/** The reader's connection, closed to those who stand inside a transaction. */
const outside = (connection: SqliteConnection): DatabaseConnection => ({
  executeQuery: (query) => {
    refuseInside('The reader was used')
    return connection.executeQuery(query)
  },
  streamQuery: (query) => connection.streamQuery(query),
})
