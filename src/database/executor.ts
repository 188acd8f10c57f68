import {
  type AbortableQueryOptions,
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  type DialectAdapter,
  type Driver,
  Kysely,
  Transaction as KyselyTransaction,
  type QueryCompiler,
  type QueryExecutor,
  type QueryResult,
} from 'kysely'
import type { Queries, Transaction } from './database.ts'
import type { Tables } from './tables/index.ts'

/** What Kysely needs to know about an engine. One value an engine, shared by all its databases. */
export interface EngineDialect extends Dialect {
  readonly adapter: DialectAdapter
  readonly compiler: QueryCompiler
}

/**
 * Runs queries on one connection without the hops of Kysely's own executor (initialise, acquire, run, transform,
 * release: about ten promises a statement), which would cost more than the statement on SQLite.
 */
class DirectExecutor extends DefaultQueryExecutor {
  readonly #connection: DatabaseConnection

  constructor(dialect: EngineDialect, connection: DatabaseConnection) {
    super(dialect.compiler, dialect.adapter, { provideConnection: (consumer) => consumer(connection) })
    this.#connection = connection
  }

  override executeQuery<R>(query: CompiledQuery, options?: AbortableQueryOptions): Promise<QueryResult<R>> {
    return options === undefined ? this.#connection.executeQuery<R>(query) : super.executeQuery<R>(query, options)
  }
}

const refuse = (): never => {
  throw new Error('Connections and transactions of Kysely are not used here; call database.transaction() instead.')
}

/** Kysely's own way to transactions, closed: it would go round the queue, the retries and the durability. */
const closedDriver: Driver = {
  init: async () => {},
  acquireConnection: refuse,
  beginTransaction: refuse,
  commitTransaction: refuse,
  rollbackTransaction: refuse,
  releaseConnection: async () => {},
  destroy: refuse,
}

const properties = (dialect: EngineDialect, executor: QueryExecutor) => ({
  config: { dialect },
  dialect,
  driver: closedDriver,
  executor,
})

/** Queries that run on this connection, one statement at a time. */
export const queriesOn = (dialect: EngineDialect, connection: DatabaseConnection): Queries =>
  new Kysely<Tables>(properties(dialect, new DirectExecutor(dialect, connection)))

/** The same, as a transaction. Beginning and ending it is the business of the caller. */
export const transactionOn = (dialect: EngineDialect, connection: DatabaseConnection): Transaction =>
  new KyselyTransaction<Tables>(properties(dialect, new DirectExecutor(dialect, connection)))

export const engineDialect = (
  adapter: DialectAdapter,
  compiler: QueryCompiler,
  createIntrospector: Dialect['createIntrospector'],
): EngineDialect => ({
  adapter,
  compiler,
  createAdapter: () => adapter,
  createDriver: () => closedDriver,
  createQueryCompiler: () => compiler,
  createIntrospector,
})
