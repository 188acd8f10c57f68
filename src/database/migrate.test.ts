import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { forEachEngine } from '../../test/harness/engines.ts'
import type { Database } from './database.ts'
import { currentSchema, migrate, SchemaTooNew } from './migrate.ts'
import type { Migration } from './migration.ts'
import { migrations } from './migrations/index.ts'
import { failOnReport } from './notes.suite.ts'
import { openDatabase } from './open.ts'
import { dumpSchema } from './schema-dump.ts'

const table = (number: number): Migration => ({
  number,
  name: `table ${number}`,
  up: async (q, { integer }) => {
    await q.schema
      .createTable(`t${number}`)
      .addColumn('id', integer, (c) => c.primaryKey())
      .execute()
    await sql`insert into ${sql.table(`t${number}`)} (id) values (1)`.execute(q)
  },
})

forEachEngine((engine) => {
  const open = async (url?: string): Promise<Database> =>
    engine.use(await openDatabase({ url: url ?? (await engine.freshDatabaseUrl()), report: failOnReport }))

  describe('migrating', () => {
    it('goes from nothing to the last schema, and again without effect', async () => {
      const database = await open()
      assert.equal(await currentSchema(database), 0)
      await migrate(database, [table(1), table(2)])
      assert.equal(await currentSchema(database), 2)
      const dump = await dumpSchema(database)
      await migrate(database, [table(1), table(2)])
      assert.equal(await dumpSchema(database), dump)
      await migrate(database, [table(1), table(2), table(3)])
      assert.equal(await currentSchema(database), 3)
    })

    it('leaves nothing of a migration that fails half-way, and goes on from there', async () => {
      const database = await open()
      const half: Migration = {
        ...table(2),
        up: async (q, types) => {
          await table(2).up(q, types)
          throw new Error('killed')
        },
      }
      await assert.rejects(migrate(database, [table(1), half]), { message: 'killed' })
      assert.equal(await currentSchema(database), 1)
      assert.doesNotMatch(await dumpSchema(database), /t2/)
      await migrate(database, [table(1), table(2)])
      assert.equal(await currentSchema(database), 2)
    })

    it('can be killed in the middle and run again', async () => {
      const url = await engine.freshDatabaseUrl()
      const killed = fileURLToPath(new URL('./half-migration.suite.ts', import.meta.url))
      const child = spawn(process.execPath, [killed, url], { stdio: ['ignore', 'pipe', 'inherit'] })
      const exited = once(child, 'exit')
      await once(child.stdout, 'data')
      child.kill('SIGKILL')
      await exited
      const database = await open(url)
      assert.equal(await currentSchema(database), 1)
      await migrate(database, [table(1), table(2)])
      assert.equal(await currentSchema(database), 2)
    })

    it('may be started by several at once', async () => {
      const url = await engine.freshDatabaseUrl()
      const all = await Promise.all([1, 2, 3, 4].map(() => open(url)))
      await Promise.all(all.map((database) => migrate(database, [table(1), table(2), table(3)])))
      for (const database of all) {
        assert.equal(await currentSchema(database), 3)
        await database[Symbol.asyncDispose]()
      }
    })

    it('refuses a schema that is newer than the program, and says what to do', async () => {
      const database = await open()
      await migrate(database, [table(1), table(2)])
      await assert.rejects(migrate(database, [table(1)]), SchemaTooNew)
      await assert.rejects(migrate(database, [table(1)]), /schema 2.*schema 1.*newer version/)
    })

    it('refuses a list with gaps', async () => {
      const database = await open()
      await assert.rejects(migrate(database, [table(2)]), /place is 1/)
    })
  })

  it('gives the golden schema (npm test with SVC_TEST_UPDATE_GOLDEN=1 writes it)', async () => {
    const database = await open()
    await migrate(database, migrations)
    const golden = new URL(`./migrations/golden/${engine.name}.sql`, import.meta.url)
    const found = await dumpSchema(database)
    if (process.env['SVC_TEST_UPDATE_GOLDEN'] === '1') await writeFile(golden, found)
    assert.equal(found, await readFile(golden, 'utf8'))
  })
})
