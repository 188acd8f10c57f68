import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { postgresSnapshotIdleMs } from '../../kernel/limits/engines.ts'
import { Announcements } from '../announcements.ts'
import { runOnce, withRetries } from '../attempts.ts'
import type { Database, Queries, Transaction } from '../database.ts'
import { engineDialect, queriesOn } from '../executor.ts'
import { refuseInside, runEffects } from '../scope.ts'
import { PostgresConnection } from './connection.ts'
import { isPassing, translatedRead, unavailable } from './errors.ts'
import type { Lane } from './lane.ts'
import { type Lanes, openLanes, probeThrough } from './lanes.ts'
import { PostgresSession } from './session.ts'

export interface PostgresOptions {
  readonly url: string
  readonly report: (message: string, error: unknown) => void
}

const postgresDialect = engineDialect(
  new PostgresAdapter(),
  new PostgresQueryCompiler(),
  (db) => new PostgresIntrospector(db),
)

/** Through which connections transactions, and reads and snapshots go. */
interface Ways {
  readonly changes: Lane
  readonly reads: Lane
}

/** The beginnings of transactions. The state of a snapshot is fixed by its first statement, so one is sent along. */
const begin = 'begin read write'
const beginSnapshot = 'begin isolation level repeatable read read only; select 1'
const beginPatientSnapshot = `begin isolation level repeatable read read only;
  set local idle_in_transaction_session_timeout = ${postgresSnapshotIdleMs}; select 1`

/**
 * A database on a server. Every commit is synchronous, `relaxed` ones too (the server groups them by itself), so
 * everything that can be seen is durable and there is nothing to settle.
 */
export class PostgresDatabase implements Database {
  readonly engine = 'postgres'
  readonly reader: Queries
  readonly patient: Database
  readonly #lanes: Lanes
  readonly #ways: Ways
  readonly #report: PostgresOptions['report']
  readonly #announcements: Announcements
  #closing: Promise<void> | undefined

  /** `of` is the database that this one is the patient side of. */
  constructor({ url, report }: PostgresOptions, of?: PostgresDatabase) {
    this.#report = report
    const lost = (error: unknown): void => report('An idle connection to the database was lost', unavailable(error))
    this.#lanes = of === undefined ? openLanes(url, lost) : of.#lanes
    this.#announcements = of === undefined ? new Announcements(report) : of.#announcements
    const { patient } = this.#lanes
    this.#ways = of === undefined ? this.#lanes : { changes: patient, reads: patient }
    this.patient = of === undefined ? new PostgresDatabase({ url, report }, this) : this
    this.reader = queriesOn(postgresDialect, outside(this.#ways.reads))
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    refuseInside('A transaction was begun')
    const { value, scope } = await withRetries(
      () =>
        this.#ways.changes.use(async (taken) => {
          const session = new PostgresSession(taken)
          await session.begin(begin)
          return await runOnce(postgresDialect, session, work)
        }),
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
    return await this.#ways.reads.use(async (taken) => {
      const session = new PostgresSession(taken)
      await session.begin(this.patient === this ? beginPatientSnapshot : beginSnapshot)
      try {
        return await work(queriesOn(postgresDialect, session))
      } catch (error) {
        throw isPassing(error) ? translatedRead(error) : error
      } finally {
        await session.rollback()
      }
    })
  }

  settled(): Promise<void> {
    return Promise.resolve()
  }

  probe(): Promise<void> {
    return probeThrough(this.#lanes.probes)
  }

  [Symbol.asyncDispose](): Promise<void> {
    const { changes, reads, patient, probes } = this.#lanes
    this.#closing ??= Promise.all([changes, reads, patient, probes].map((lane) => lane.close())).then(() => {})
    return this.#closing
  }
}

/** Statements by themselves, closed to those who stand inside a transaction. */
const outside = (reads: Lane): PostgresConnection =>
  new PostgresConnection(async (query) => {
    refuseInside('The reader was used')
    try {
      return await reads.use((taken) => taken.query(query))
    } catch (error) {
      throw translatedRead(error)
    }
  })
