import { type Kysely, sql } from 'kysely'
import type { Database, Queries } from './database.ts'
import type { ColumnTypes, Engine, Migration } from './migration.ts'

const types: Readonly<Record<Engine, ColumnTypes>> = {
  sqlite: { engine: 'sqlite', text: sql`text`, integer: sql`integer`, bytes: sql`blob` },
  postgres: { engine: 'postgres', text: sql`text collate "C"`, integer: sql`bigint`, bytes: sql`bytea` },
}

/** Any number, the same in every version of the program: who holds it migrates, on PostgreSQL. */
const advisoryLock = 7_382_910_465

/** The database was made by a newer program. Going on would damage what the newer one relies on. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew'
}

/**
 * Brings the schema to the last migration. Each migration and its row in `schema_migrations` are one transaction, so
 * killing it anywhere leaves a schema that it can go on from. Processes that start together take turns, step by step.
 */
export const migrate = async (database: Database, migrations: readonly Migration[]): Promise<void> => {
  checkNumbers(migrations)
  await database.patient.transaction(async (tx) => {
    await lockMigrations(database.engine, tx)
    await sql`create table if not exists schema_migrations (
      number ${types[database.engine].integer} primary key,
      name ${types[database.engine].text} not null
    )${database.engine === 'sqlite' ? sql` strict` : sql``}`.execute(tx)
  })
  refuseNewer(await currentSchema(database), migrations)
  for (const migration of migrations) await apply(database, migration, migrations)
}

/** The database has not been brought to the schema of this program yet, by one that may write. */
class SchemaTooOld extends Error {
  override readonly name = 'SchemaTooOld'
}

/** For who may only read: refuses a database that is not at the last migration, and changes nothing. */
export const requireSchema = async (database: Database, migrations: readonly Migration[]): Promise<void> => {
  const found = await currentSchema(database)
  refuseNewer(found, migrations)
  if (found < migrations.length)
    throw new SchemaTooOld(
      `The database has schema ${found}, this reader needs schema ${migrations.length}. Start the writer of this version first.`,
    )
}

/** Number of the last migration that the database has seen; 0 for a new one. */
export const currentSchema = async (database: Database): Promise<number> => {
  const table = 'schema_migrations'
  const present =
    database.engine === 'sqlite'
      ? sql<{ found: number }>`select count(*) as found from sqlite_schema where name = ${table}`
      : sql<{
          found: number
        }>`select count(*) as found from pg_tables where schemaname = current_schema() and tablename = ${table}`
  const { rows } = await present.execute(database.reader)
  return rows[0]?.found === 1 ? lastNumber(database.reader) : 0
}

const apply = async (database: Database, migration: Migration, all: readonly Migration[]): Promise<void> => {
  await database.patient.transaction(async (tx) => {
    await lockMigrations(database.engine, tx)
    const last = await lastNumber(tx)
    refuseNewer(last, all)
    if (last >= migration.number) return
    await migration.up(untyped(tx), types[database.engine])
    await sql`insert into schema_migrations (number, name) values (${migration.number}, ${migration.name})`.execute(tx)
  })
}

/** On SQLite the transaction itself is the turn. */
const lockMigrations = async (engine: Engine, q: Queries): Promise<void> => {
  if (engine === 'postgres') await sql`select pg_advisory_xact_lock(${advisoryLock})`.execute(q)
}

const lastNumber = async (q: Queries): Promise<number> => {
  const { rows } = await sql<{ last: number | null }>`select max(number) as last from schema_migrations`.execute(q)
  return rows[0]?.last ?? 0
}

/** A migration knows no table types of today. Forgetting them has no form in Kysely's types but a cast. */
const untyped = (q: Queries): Kysely<unknown> => q as unknown as Kysely<unknown>

const refuseNewer = (found: number, migrations: readonly Migration[]): void => {
  if (found <= migrations.length) return
  throw new SchemaTooNew(
    `The database has schema ${found}, this program knows schema ${migrations.length} and older. Start a newer version of svc.`,
  )
}

const checkNumbers = (migrations: readonly Migration[]): void => {
  for (const [index, { number, name }] of migrations.entries()) {
    if (number !== index + 1)
      throw new Error(`Migration "${name}" has number ${number}, but its place is ${index + 1}.`)
  }
}
