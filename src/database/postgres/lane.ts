import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg'
import { postgresPatientLookMs, postgresPatientLooksInVain } from '../../kernel/limits/engines.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { saidByServer, unavailable } from './errors.ts'
import { type Bounds, openPool } from './pool.ts'

/**
 * Connections for one kind of work, so that what waits there keeps nobody else waiting.
 *
 * PROMISE. Nothing takes longer than the bounds say, whatever the server does: while it stands still with its
 * connections open, a connection is given up after `connectMs`, a statement after `silenceMs`, or where that is long as
 * soon as nobody else gets an answer either. A connection that failed us is not used again, and nor are those that were
 * idle beside it: what they lead to fell silent, or is not what it was (another server took over).
 */
export class Lane {
  readonly #pool: Pool
  readonly #probe: (() => Promise<void>) | null
  readonly #born = new WeakMap<PoolClient, number>()
  #generation = 0
  #closing: Promise<void> | undefined

  /** `probe` tells whether the server answers anybody; asked while a statement takes long. */
  constructor(
    url: string,
    bounds: Bounds,
    onIdleError: (error: unknown) => void,
    probe: (() => Promise<void>) | null = null,
  ) {
    this.#pool = openPool(url, bounds, onIdleError)
    this.#pool.on('connect', (client) => this.#born.set(client, this.#generation))
    this.#probe = probe
  }

  /** Runs `work` on a connection that is its own meanwhile. Fails as unavailable where there is none. */
  async use<T>(work: (taken: Taken) => Promise<T>): Promise<T> {
    const client = await this.#connect()
    const isOld = (): boolean => this.#born.get(client) !== this.#generation
    const onLost = (): void => {
      if (!isOld()) this.#generation += 1
    }
    const taken = new Taken(client, this.#probe, onLost)
    try {
      return await work(taken)
    } finally {
      taken.release(isOld())
    }
  }

  /** Waits until everything was given back. */
  close(): Promise<void> {
    this.#closing ??= this.#pool.end()
    return this.#closing
  }

  async #connect(): Promise<PoolClient> {
    for (;;) {
      if (this.#closing !== undefined) throw new DatabaseUnavailable('The database is closed.')
      const client = await this.#pool.connect().catch((error: unknown) => {
        throw unavailable(error)
      })
      if (this.#born.get(client) === this.#generation) return client
      client.release(true)
    }
  }
}

/** A connection in use. One whose state is in doubt is not used again. */
export class Taken {
  readonly #client: PoolClient
  readonly #probe: (() => Promise<void>) | null
  readonly #onLost: () => void
  #doubt: unknown
  readonly #onError = (error: Error): void => this.doubt(error)

  constructor(client: PoolClient, probe: (() => Promise<void>) | null, onLost: () => void) {
    this.#client = client
    this.#probe = probe
    this.#onLost = onLost
    // A connection that ends while it is ours would otherwise be an uncaught error. The next statement fails.
    client.on('error', this.#onError)
  }

  get inDoubt(): boolean {
    return this.#doubt !== undefined
  }

  async query(query: QueryConfig): Promise<QueryResult> {
    const watch = this.#probe === null ? null : this.#watch(this.#probe)
    try {
      return await this.#client.query(query)
    } catch (error) {
      if (!saidByServer(error)) this.lost(error)
      throw error
    } finally {
      if (watch !== null) clearInterval(watch)
    }
  }

  /** Neither this connection nor those that are idle beside it are to be used again. */
  lost(cause: unknown): void {
    this.doubt(cause)
    this.#onLost()
  }

  /** This one is not to be used again. */
  doubt(cause: unknown): void {
    this.#doubt ??= cause
  }

  release(isOld: boolean): void {
    this.#client.off('error', this.#onError)
    this.#client.release(isOld || this.inDoubt)
  }

  /**
   * Ends the connection, and with it the statement that is under way, when the server has nothing to say to others
   * either.
   */
  #watch(probe: () => Promise<void>): NodeJS.Timeout {
    let inVain = 0
    const look = async (): Promise<void> => {
      try {
        await probe()
        inVain = 0
      } catch {
        inVain += 1
        if (inVain === postgresPatientLooksInVain) await this.#client.end().catch(() => {})
      }
    }
    return setInterval(() => void look(), postgresPatientLookMs)
  }
}
