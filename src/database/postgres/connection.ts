import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import type { QueryResult as PostgresResult, QueryConfig } from 'pg'
import { checkParameter } from '../parameters.ts'
import type { PlannedQuery } from '../prepared.ts'

type Run = (query: QueryConfig) => Promise<PostgresResult>

/** Whatever takes a statement: one connection, or whichever is free for a statement by itself. */
export class PostgresConnection implements DatabaseConnection {
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  async executeQuery<R>({ sql, parameters, statementName }: PlannedQuery): Promise<QueryResult<R>> {
    const values = parameters.map(checkParameter)
    const result = await this.#run(
      statementName === undefined ? { text: sql, values } : { name: statementName, text: sql, values },
    )
    if (!countsRows.has(result.command)) return { rows: result.rows }
    return { numAffectedRows: BigInt(result.rowCount ?? 0), rows: result.rows }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query)
  }
}

const countsRows: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])
