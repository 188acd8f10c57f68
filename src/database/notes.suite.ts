import { sql } from 'kysely'
import type { TestEngine } from '../../test/harness/engines.ts'
import type { Database, Queries } from './database.ts'
import { migrate } from './migrate.ts'
import type { Migration } from './migration.ts'
import { openDatabase } from './open.ts'

/** A schema for tests of the engines themselves, which should not change with the product's. */
export const notesSchema: readonly Migration[] = [
  {
    number: 1,
    name: 'notes',
    async up(q, { integer, text }) {
      await q.schema
        .createTable('notes')
        .addColumn('id', integer, (c) => c.primaryKey())
        .addColumn('body', text, (c) => c.notNull())
        .execute()
    },
  },
]

export interface Reports {
  readonly reports: { message: string; error: unknown }[]
  readonly report: (message: string, error: unknown) => void
}

export const collectReports = (): Reports => {
  const reports: Reports['reports'] = []
  return { reports, report: (message, error) => void reports.push({ message, error }) }
}

export const failOnReport = (message: string, error: unknown): void => {
  throw new Error(message, { cause: error })
}

/** A new database with the table `notes`, closed after the test. */
export const openNotes = async (engine: TestEngine, report: Reports['report'] = failOnReport): Promise<Database> => {
  const database = engine.use(await openDatabase({ url: await engine.freshDatabaseUrl(), report }))
  await migrate(database, notesSchema)
  return database
}

export const write = async (q: Queries, id: number, body = ''): Promise<void> => {
  await sql`insert into notes (id, body) values (${id}, ${body})`.execute(q)
}

export const ids = async (q: Queries): Promise<number[]> => {
  const { rows } = await sql<{ id: number }>`select id from notes order by id`.execute(q)
  return rows.map((row) => row.id)
}
