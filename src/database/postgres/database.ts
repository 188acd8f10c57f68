import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import { Announcements } from '../announcements.ts'
import { runOnce, type Session, withRetries } from '../attempts.ts'
import type { Database, Queries, Transaction } from '../database.ts'
import { engineDialect, queriesOn } from '../executor.ts'
import { refuseInside, runEffects } from '../scope.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { PostgresConnection } from './connection.ts'
import { isPassing, translated } from './errors.ts'
import { openPool } from './pool.ts'

export interface PostgresOptions {
  readonly url: string
  readonly report: (message: string, error: unknown) => void
}

const postgresDialect = engineDialect(
  new PostgresAdapter(),
  new PostgresQueryCompiler(),
  (db) => new PostgresIntrospector(db),
)

/**
 * A database on a server. Every commit is synchronous, `relaxed` ones too (the server groups them by itself), so everything
 * that can be seen is durable and there is nothing to settle.
 */
export class PostgresDatabase implements Database {
  readonly engine = 'postgres'
  readonly reader: Queries
  readonly #report: PostgresOptions['report']
  readonly #pool: Pool
  readonly #announcements: Announcements
  #closing: Promise<void> | undefined

  constructor({ url, report }: PostgresOptions) {
    this.#report = report
    this.#pool = openPool(url, (error) => report('An idle connection to the database was lost', error))
    this.#announcements = new Announcements(report)
    this.reader = queriesOn(
      postgresDialect,
      new PostgresConnection(this.#pool, () => refuseInside('The reader was used')),
    )
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    refuseInside('A transaction was begun')
    const { value, scope } = await withRetries(
      () => this.#withSession('begin read write', (session) => runOnce(postgresDialect, session, work)),
      isPassing,
    )
    if (scope.effects.length > 0) runEffects(scope, this.#report)
    if (scope.topics.size > 0) this.#announcements.tell(scope.topics)
    return value
  }

  listen(listener: (topic: string) => void): () => void {
    return this.#announcements.listen(listener)
  }

  async snapshot<T>(work: (q: Queries) => Promise<T>): Promise<T> {
    refuseInside('A snapshot was begun')
    // The state is fixed by the first statement, so one is sent along.
    const begin = 'begin isolation level repeatable read read only; select 1'
    return await this.#withSession(begin, async (session) => {
      try {
        return await work(queriesOn(postgresDialect, session))
      } finally {
        await session.rollback()
      }
    })
  }

  settled(): Promise<void> {
    return Promise.resolve()
  }

  async probe(): Promise<void> {
    try {
      await this.#pool.query('select 1')
    } catch (error) {
      throw translated(error)
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#pool.end()
    return this.#closing
  }

  async #withSession<T>(begin: string, work: (session: PostgresSession) => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new DatabaseUnavailable('The database is closed.')
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw translated(error)
    })
    const session = new PostgresSession(client)
    try {
      await session.command(begin)
      return await work(session)
    } finally {
      session.release()
    }
  }
}

/** A client for the length of a transaction. One whose state is in doubt does not go back into the pool. */
class PostgresSession extends PostgresConnection implements Session {
  readonly sequential = false
  readonly #client: PoolClient
  #broken: Error | undefined
  readonly #onError = (error: Error): void => {
    this.#broken = error
  }

  constructor(client: PoolClient) {
    super(client)
    this.#client = client
    // A connection that ends while it is ours would otherwise be an uncaught error. The next statement fails.
    client.on('error', this.#onError)
  }

  async commit(): Promise<void> {
    let answer: string
    try {
      answer = (await this.#client.query('commit')).command
    } catch (cause) {
      this.#broken = new Error('The commit failed', { cause })
      const error = translated(cause)
      if (!(error instanceof DatabaseUnavailable)) throw error
      const message = 'The connection to the database was lost during a commit, which may have happened or not.'
      throw new DatabaseUnavailable(message, { cause, outcomeUnknown: true })
    }
    if (answer !== 'COMMIT') throw new Error('The server rolled the transaction back instead of committing it.')
  }

  async rollback(): Promise<void> {
    if (this.#broken !== undefined) return
    await this.#client.query('rollback').catch(this.#onError)
  }

  async command(text: string): Promise<void> {
    try {
      await this.#client.query(text)
    } catch (error) {
      this.#broken = new Error('The session is of no use', { cause: error })
      throw translated(error)
    }
  }

  release(): void {
    this.#client.off('error', this.#onError)
    this.#client.release(this.#broken)
  }
}
