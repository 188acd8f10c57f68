import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { sqliteBusyTimeoutMs, sqlitePagesKeptBytes } from '../../kernel/limits/engines.ts'
import { KiB } from '../../kernel/units.ts'
import { type Bindable, checkParameter } from '../parameters.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { translated } from './errors.ts'
import { type Row, Statements } from './statements.ts'

/** One SQLite connection. Everything on it is synchronous: when a call returns, the statement has ended. */
export class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #statements: Statements
  /** Whether a statement since the last `forgetChanges` may have changed something. */
  changed = false

  constructor(path: string, readOnly: boolean) {
    this.#database = opened(path, readOnly)
    this.#statements = new Statements(this.#database)
    this.exec('pragma trusted_schema = off')
    // `like` minds case on PostgreSQL; without this SQLite would ignore it for ASCII letters.
    this.exec('pragma case_sensitive_like = on')
    // The log is copied by its keeper alone: whatever SQLite did by itself would sync in the thread that commits.
    this.exec('pragma wal_autocheckpoint = 0')
    if (readOnly) this.exec('pragma query_only = on')
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction
  }

  /**
   * Lets it keep as much of a large database in memory as one that works all the time should. SQLite reads the database
   * for this: not while it is yet to be seen whether somebody else has it open.
   */
  keepPages(): void {
    // In KiB, which it takes as a number below zero.
    this.exec(`pragma cache_size = ${-sqlitePagesKeptBytes / KiB}`)
  }

  /** Statements of our own, without rows. */
  exec(sql: string): void {
    try {
      this.#database.exec(sql)
    } catch (error) {
      throw translated(error)
    }
  }

  /** The same for those that come again and again. */
  command(sql: string): void {
    try {
      this.#statements.get(sql).run([])
    } catch (error) {
      throw translated(error)
    }
  }

  /** One value of our own, such as that of a pragma. */
  value(sql: string): unknown {
    const row = this.row(sql)
    return row === undefined ? undefined : Object.values(row)[0]
  }

  /** The first row of a statement of our own. */
  row(sql: string): Row | undefined {
    try {
      return this.#statements.get(sql).all([])[0]
    } catch (error) {
      throw translated(error)
    }
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#execute<R>(query)
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield this.#execute<R>(query)
  }

  close(): void {
    this.#database.close()
  }

  #execute<R>({ sql, parameters, query }: CompiledQuery): QueryResult<R> {
    const bound = parameters.map(toSqlite)
    try {
      const statement = this.#statements.get(sql)
      if (statement.answersRows) {
        // The row type is Kysely's promise about the query; the driver cannot know it.
        const rows = statement.all(bound) as R[]
        if (query.kind !== 'SelectQueryNode' && rows.length > 0) this.changed = true
        return { rows }
      }
      const changes = statement.run(bound)
      // Only plain changes are believed when they say that they changed nothing; anything else (DDL, raw text) counts.
      if (changes !== 0n || !plainChanges.has(query.kind)) this.changed = true
      return { numAffectedRows: changes, rows: [] }
    } catch (error) {
      throw translated(error)
    }
  }
}

const opened = (path: string, readOnly: boolean): DatabaseSync => {
  try {
    return new DatabaseSync(path, {
      readOnly,
      timeout: sqliteBusyTimeoutMs,
      enableForeignKeyConstraints: true,
      enableDoubleQuotedStringLiterals: false,
      allowExtension: false,
      defensive: true,
    })
  } catch (error) {
    const known = translated(error)
    if (!(known instanceof DatabaseUnavailable)) throw known
    throw new DatabaseUnavailable(`The database file ${path} cannot be opened.`, { cause: error })
  }
}

const plainChanges: ReadonlySet<string> = new Set(['UpdateQueryNode', 'DeleteQueryNode'])

/**
 * node:sqlite binds every number as a float, which would show in text (`5.0`); a bigint is bound as the integer it is.
 */
const toSqlite = (value: unknown, index: number): SQLInputValue => {
  const checked: Bindable = checkParameter(value, index)
  return typeof checked === 'number' && Number.isInteger(checked) ? BigInt(checked) : checked
}
