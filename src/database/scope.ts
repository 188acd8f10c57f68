import { AsyncLocalStorage } from 'node:async_hooks'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import type { Transaction } from './database.ts'

const running = new AsyncLocalStorage<Scope>()
const scopes = new WeakMap<Transaction, Scope>()

/** Whether the caller stands inside the work of a transaction. Ports ask this in order to refuse (I5). */
export const insideTransaction = (): boolean => running.getStore()?.live ?? false

/**
 * Remembers an effect for after the commit. It runs once the transaction is as durable as its caller asked for, in the
 * order of registration, never after a rollback. An error in it is reported, not thrown: the commit has happened.
 * A crash loses effects, so only what a restart makes good anyway belongs here (waking a worker, dropping a cache).
 */
export const onCommit = (tx: Transaction, effect: () => void): void => {
  const scope = scopes.get(tx)
  if (!scope?.live) throw new Error('onCommit needs a transaction that is still running.')
  scope.effects.push(effect)
}

/**
 * Announces a topic to those who listen to the database in this process, once the transaction is as durable as its
 * caller asked for, and never after a rollback. Several announcements of one topic are one.
 */
export const announce = (tx: Transaction, topic: string): void => {
  const scope = scopes.get(tx)
  if (!scope?.live) throw new Error('announce needs a transaction that is still running.')
  scope.topics.add(topic)
}

export const refuseInside = (what: string): void => {
  if (insideTransaction()) throw new Error(`${what} inside a transaction; use the transaction itself.`)
}

/**
 * The connection of one run of a transaction's work. Statements pass one at a time. After the first failed statement,
 * and after the end, nothing passes any more: PostgreSQL behaves so by itself, SQLite is made to.
 */
export class Scope implements DatabaseConnection {
  readonly effects: (() => void)[] = []
  readonly topics = new Set<string>()
  live = true
  failure: unknown
  #failed = false
  #tail: Promise<unknown> | undefined
  readonly #connection: DatabaseConnection
  readonly #sequential: boolean

  /**
   * `sequential`: the connection takes statements at any time and answers in order, so there is nothing to wait for.
   */
  constructor(connection: DatabaseConnection, sequential: boolean) {
    this.#connection = connection
    this.#sequential = sequential
  }

  get failed(): boolean {
    return this.#failed
  }

  run<T>(work: (tx: Transaction) => Promise<T>, tx: Transaction): Promise<T> {
    scopes.set(tx, this)
    return running.run(this, work, tx)
  }

  /** No statement may begin any more; resolves when the last one that did has ended. */
  async end(): Promise<void> {
    this.live = false
    await this.#tail?.catch(() => {})
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const refused = this.#refusal()
    if (refused !== undefined) return Promise.reject(refused)
    if (this.#sequential) return this.#execute<R>(query)
    const result = this.#tail === undefined ? this.#execute<R>(query) : this.#after<R>(this.#tail, query)
    this.#tail = result
    return result
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Queries are not streamed inside a transaction; read pages.')
  }

  #refusal(): Error | undefined {
    if (!this.live) return new Error('The transaction has ended; a query through it came too late.')
    if (!this.#failed) return undefined
    return new Error('An earlier statement of this transaction failed, so it can only roll back.', {
      cause: this.failure,
    })
  }

  async #after<R>(before: Promise<unknown>, query: CompiledQuery): Promise<QueryResult<R>> {
    await before.catch(() => {})
    const refused = this.#failed ? this.#refusal() : undefined
    if (refused !== undefined) throw refused
    return this.#execute<R>(query)
  }

  async #execute<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      return await this.#connection.executeQuery<R>(query)
    } catch (error) {
      if (!this.#failed) this.failure = error
      this.#failed = true
      throw error
    }
  }
}

/** Runs the effects of a commit; what they throw goes to `report`. */
export const runEffects = (scope: Scope, report: (message: string, error: unknown) => void): void => {
  for (const effect of scope.effects) {
    try {
      effect()
    } catch (error) {
      report('An effect after a commit failed; the commit itself stands', error)
    }
  }
}
