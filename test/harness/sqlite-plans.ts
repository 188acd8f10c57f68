import assert from 'node:assert/strict'
import { CompiledQuery, DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { Queries } from '../../src/database/database.ts'
import type { Tables } from '../../src/database/tables/index.ts'
import type { TestEngine } from './engines.ts'
import { openOwnParts } from './own-parts.ts'

/** The statements that the work would run, none of which is. */
const statementsOf = async (work: (q: Queries) => Promise<unknown>): Promise<CompiledQuery[]> => {
  const seen: CompiledQuery[] = []
  const driver = new DummyDriver()
  const noting = Object.assign(driver, {
    acquireConnection: async () => {
      const connection = await new DummyDriver().acquireConnection()
      return Object.assign(connection, {
        executeQuery: async (query: CompiledQuery) => {
          seen.push(query)
          return { rows: [] }
        },
      })
    },
  })
  const dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => noting,
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
  await work(new Kysely<Tables>({ dialect }))
  return seen
}

/** How SQLite would go about each of them. */
export const plansOf = async (engine: TestEngine, work: (q: Queries) => Promise<unknown>): Promise<string[]> => {
  const { database } = await openOwnParts(engine)
  const statements = await statementsOf(work)
  assert.ok(statements.length > 0)
  const plans: string[] = []
  for (const { sql, parameters } of statements) {
    const explained = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters])
    const { rows } = await database.reader.executeQuery<{ detail: string }>(explained)
    plans.push(...rows.map(({ detail }) => detail))
  }
  return plans
}
