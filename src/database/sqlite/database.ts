import { setImmediate as turn } from 'node:timers/promises'
import type { DatabaseConnection } from 'kysely'
import { Announcements } from '../announcements.ts'
import { runOnce, withRetries } from '../attempts.ts'
import type { Database, Queries, Transaction, TransactionOptions } from '../database.ts'
import { queriesOn } from '../executor.ts'
import { refuseInside, runEffects } from '../scope.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { sqliteDialect } from './compiler.ts'
import { SqliteConnection } from './connection.ts'
import { isBusy } from './errors.ts'
import { GroupSync } from './group-sync.ts'
import { Snapshots } from './snapshots.ts'
import { openWalFile, type WalFile } from './wal-file.ts'
import { Writer } from './writer.ts'

export interface SqliteOptions {
  readonly path: string
  readonly report: (message: string, error: unknown) => void
  /** Tests put power cuts and failing disks between us and the file. */
  readonly openWal?: (databasePath: string) => WalFile
}

/** A database in one file: one writer in turn, readers beside it, commits made durable in groups. */
export class SqliteDatabase implements Database {
  readonly engine = 'sqlite'
  readonly reader: Queries
  readonly #report: SqliteOptions['report']
  readonly #writer: Writer
  readonly #wal: WalFile
  readonly #sync: GroupSync
  readonly #reading: SqliteConnection
  readonly #snapshots: Snapshots
  readonly #announcements: Announcements
  #closing: Promise<void> | undefined

  constructor({ path, report, openWal = openWalFile }: SqliteOptions) {
    this.#report = report
    this.#writer = new Writer(path)
    this.#wal = openWal(path)
    const version = (): unknown => this.#writer.connection.value('pragma data_version')
    this.#sync = new GroupSync({ sync: () => this.#wal.sync(), version }, (error) => this.#poisoned(error))
    this.#reading = new SqliteConnection(path, true)
    this.#snapshots = new Snapshots(path)
    this.#announcements = new Announcements(report)
    this.reader = queriesOn(sqliteDialect, outside(this.#reading))
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    refuseInside('A transaction was begun')
    const { value, scope } = await withRetries(
      () =>
        this.#writer.inTurn(async (session) => {
          if (this.#sync.failure !== undefined) {
            await session.rollback()
            throw this.#sync.failure
          }
          const outcome = await runOnce(sqliteDialect, session, work)
          if (this.#writer.connection.changed) this.#sync.committed()
          return outcome
        }),
      isBusy,
    )
    if (options?.durability !== 'relaxed') await this.#sync.durable()
    if (scope.effects.length > 0) runEffects(scope, this.#report)
    if (scope.topics.size > 0) this.#announcements.tell(scope.topics)
    return value
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
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#writer.close(async () => {
      await turn() // The last transaction has left the queue, and has yet to ask whether it is durable.
      await this.#snapshots.close()
      if (this.#sync.failure === undefined) await this.#sync.durable()
      this.#reading.close()
      this.#wal.close()
    })
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new DatabaseUnavailable('The database is closed.')
  }

  #poisoned(cause: unknown): Error {
    const message =
      'Syncing the database to its disk failed. Nothing is acknowledged any more until the service restarts.'
    this.#report(message, cause)
    // What the kernel holds of the log may differ from what the disk holds, so it must not be copied into the database.
    this.#writer.connection.exec('pragma wal_autocheckpoint = 0')
    return new DatabaseUnavailable(message, { cause, outcomeUnknown: true })
  }
}

/** The reader's connection, closed to those who stand inside a transaction. */
const outside = (connection: SqliteConnection): DatabaseConnection => ({
  executeQuery: (query) => {
    refuseInside('The reader was used')
    return connection.executeQuery(query)
  },
  streamQuery: (query) => connection.streamQuery(query),
})
