import { sqliteSnapshotsAtOnce, writersWaitingMax } from '../../kernel/limits/engines.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { SqliteConnection } from './connection.ts'

/** Read-only connections for work that needs more than one statement on one state. Opened when first needed. */
export class Snapshots {
  readonly #path: string
  readonly #idle: SqliteConnection[] = []
  readonly #waiting: (() => void)[] = []
  #taken = 0
  #onceIdle: (() => void) | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Begins a read transaction, whose state is the newest one now, for the length of `work`. */
  async on<T>(work: (connection: SqliteConnection) => Promise<T>): Promise<T> {
    await this.#enter()
    let connection: SqliteConnection | undefined
    try {
      connection = this.#idle.pop() ?? new SqliteConnection(this.#path, true)
      connection.exec('begin')
      connection.value('select count(*) from sqlite_schema') // The state is fixed by the first read, not by `begin`.
      return await work(connection)
    } finally {
      if (connection !== undefined) {
        if (connection.inTransaction) connection.exec('rollback')
        this.#idle.push(connection)
      }
      this.#leave()
    }
  }

  /** Resolves when no snapshot is left; nobody may begin another one meanwhile. */
  async close(): Promise<void> {
    if (this.#taken > 0) {
      await new Promise<void>((resolve) => {
        this.#onceIdle = resolve
      })
    }
    for (const connection of this.#idle.splice(0)) connection.close()
  }

  #enter(): Promise<void> {
    if (this.#taken < sqliteSnapshotsAtOnce) {
      this.#taken++
      return Promise.resolve()
    }
    if (this.#waiting.length >= writersWaitingMax) {
      return Promise.reject(new DatabaseUnavailable(`${this.#waiting.length} snapshots are waiting already.`))
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next !== undefined) {
      next()
      return
    }
    this.#taken--
    if (this.#taken === 0) this.#onceIdle?.()
  }
}
