import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { forEachEngine } from '../../../test/harness/engines.ts'
import type { Database } from '../database.ts'
import { migrate } from '../migrate.ts'
import { migrations } from '../migrations/index.ts'
import { openDatabase } from '../open.ts'
import { derivedTables, isTableName, movingTables, tableDecisions } from './tables.ts'

interface Reference {
  readonly child: string
  readonly parent: string
}

const tableNames = async ({ engine, reader }: Database): Promise<string[]> => {
  const { rows } = await (engine === 'sqlite'
    ? sql<{ name: string }>`select name from sqlite_schema where type = 'table'`
    : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = current_schema()`
  ).execute(reader)
  return rows
    .map(({ name }) => name)
    .filter((name) => name !== 'schema_migrations' && !derivedTables.some((prefix) => name.startsWith(prefix)))
}

const primaryKey = async ({ engine, reader }: Database, table: string): Promise<string[]> => {
  const { rows } = await (engine === 'sqlite'
    ? sql<{ name: string }>`select name from pragma_table_info(${table}) where pk > 0 order by pk`
    : sql<{ name: string }>`select attname as name from pg_index join pg_attribute
        on attrelid = indrelid and attnum = any(indkey)
        where indrelid = ${table}::regclass and indisprimary order by array_position(indkey::int[], attnum::int)`
  ).execute(reader)
  return rows.map(({ name }) => name)
}

const references = async ({ engine, reader }: Database): Promise<Reference[]> => {
  const { rows } = await (engine === 'sqlite'
    ? sql<Reference>`select s.name as child, f."table" as parent
        from sqlite_schema s, pragma_foreign_key_list(s.name) f where s.type = 'table'`
    : sql<Reference>`select conrelid::regclass::text as child, confrelid::regclass::text as parent
        from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`
  ).execute(reader)
  return rows
}

forEachEngine((engine) => {
  describe('the tables of a catalog that moves', () => {
    const open = async (): Promise<Database> => {
      const url = await engine.freshDatabaseUrl()
      const database = engine.use(await openDatabase({ url, report: () => {} }))
      await migrate(database, migrations)
      return database
    }

    it('are all decided about, and there are no others', async () => {
      const found = await tableNames(await open())
      assert.deepEqual(found.filter((name) => !isTableName(name)).sort(), [], 'decide about these in tables.ts')
      assert.deepEqual(found.sort(), Object.keys(tableDecisions).sort())
    })

    it('are read by their primary keys', async () => {
      const database = await open()
      for (const { name, key } of movingTables()) assert.deepEqual(key, await primaryKey(database, name), name)
    })

    it('stand behind what their rows refer to, and refer to nothing that stays behind', async () => {
      const names: string[] = movingTables().map(({ name }) => name)
      for (const { child, parent } of await references(await open())) {
        if (!names.includes(child)) continue
        assert.ok(names.includes(parent), `${child} refers to ${parent}, which stays`)
        assert.ok(child === parent || names.indexOf(parent) < names.indexOf(child), `${child} comes before ${parent}`)
      }
    })

    it('count nothing by themselves, so that no sequence has to be set after an import', async () => {
      const { engine: name, reader } = await open()
      const { rows } = await (name === 'sqlite'
        ? sql`select name from sqlite_schema where sql like '%autoincrement%' or sql like '%AUTOINCREMENT%'`
        : sql`select relname from pg_class where relkind = 'S' and relnamespace = current_schema()::regnamespace`
      ).execute(reader)
      assert.deepEqual(rows, [])
    })
  })
})
