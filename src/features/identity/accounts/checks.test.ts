import assert from 'node:assert/strict'
import { it } from 'node:test'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import { migrate } from '../../../database/migrate.ts'
import { migrations } from '../../../database/migrations/index.ts'
import { openDatabase } from '../../../database/open.ts'
import { checkAccounts } from './checks.ts'

forEachEngine((engine) => {
  it('finds each counter of people and systems that is not what it counts', async () => {
    const url = await engine.readyDatabaseUrl()
    const database = engine.use(await openDatabase({ url, report: () => {} }))
    await migrate(database, migrations)
    const findings = () => Array.fromAsync(checkAccounts(database), ({ text }) => text)
    assert.deepEqual(await findings(), [])
    for (const name of ['accounts', 'groups', 'memberships', 'grants', 'service_accounts'] as const) {
      const set = (value: number) =>
        database.transaction(async (tx) => {
          await tx.updateTable('counters').set({ value }).where('name', '=', name).execute()
        })
      await set(3)
      assert.deepEqual(await findings(), [`the counter of ${name} says 3; there are 0`])
      await set(0)
    }
  })
})
