import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import { forEachEngine } from '../../../test/harness/engines.ts'
import type { Database } from '../database.ts'
import { migrate } from '../migrate.ts'
import { failOnReport } from '../notes.suite.ts'
import { openDatabase } from '../open.ts'
import { dumpSchema } from '../schema-dump.ts'
import { migrations } from './index.ts'

forEachEngine((engine) => {
  if (engine.name !== 'postgres') return
  it('the index of search is made also where an import died that had taken it away', async () => {
    const open = async (): Promise<Database> =>
      engine.use(await openDatabase({ url: await engine.freshDatabaseUrl(), report: failOnReport }))
    const [died, other] = [await open(), await open()]
    const own = migrations.findIndex(({ name }) => name === 'what-people-look-for')
    await migrate(died, migrations.slice(0, own))
    await died.transaction((tx) => sql`drop index search_entries_by_token`.execute(tx))
    await migrate(died, migrations)
    await migrate(other, migrations)
    assert.equal(await dumpSchema(died), await dumpSchema(other))
  })
})
