import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import type { ClientBase, Pool, QueryResult as PostgresResult } from 'pg'
import { checkParameter } from '../parameters.ts'
import type { PlannedQuery } from '../prepared.ts'
import { translated } from './errors.ts'

/** Whatever takes a statement: one client, or the pool for a statement by itself. */
export class PostgresConnection implements DatabaseConnection {
  readonly #target: ClientBase | Pool
  readonly #before: () => void

  /** `before` may refuse a statement by throwing. */
  constructor(target: ClientBase | Pool, before: () => void = () => {}) {
    this.#target = target
    this.#before = before
  }

  async executeQuery<R>({ sql, parameters, statementName }: PlannedQuery): Promise<QueryResult<R>> {
    this.#before()
    const values = parameters.map(checkParameter)
    try {
      const result: PostgresResult = await (statementName === undefined
        ? this.#target.query(sql, values)
        : this.#target.query({ name: statementName, text: sql, values }))
      if (!countsRows.has(result.command)) return { rows: result.rows }
      return { numAffectedRows: BigInt(result.rowCount ?? 0), rows: result.rows }
    } catch (error) {
      throw translated(error)
    }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query)
  }
}

const countsRows: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])
