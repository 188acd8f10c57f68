import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { migrate } from '../migrate.ts'
import { failOnReport } from '../notes.suite.ts'
import { openDatabase } from '../open.ts'
import { migrations } from './index.ts'

forEachEngine((engine) => {
  it('blobs from before keep the names of their bytes, and what was being removed is a removal with its notes', async () => {
    const database = engine.use(await openDatabase({ url: await engine.freshDatabaseUrl(), report: failOnReport }))
    const own = migrations.findIndex(({ name }) => name === 'removals')
    await migrate(database, migrations.slice(0, own))
    const [kept, marked] = ['a'.repeat(64), 'b'.repeat(64)]
    await database.transaction(async (tx) => {
      for (const [digest, state] of [
        [kept, 'stored'],
        [marked, 'reclaiming'],
      ] as const) {
        await sql`insert into blobs (sha256, size, state) values (${digest}, 7, ${state})`.execute(tx)
        await sql`insert into reclaim_candidates (sha256, since) values (${digest}, '2026')`.execute(tx)
        await sql`insert into reclaim_notes (sha256, repository, artifact_id)
          values (${digest}, 'releases', 'some')`.execute(tx)
      }
    })
    await migrate(database, migrations)
    const q = database.reader
    assert.deepEqual(await q.selectFrom('blobs').select(['sha256', 'state', 'generation']).execute(), [
      { sha256: kept, state: 'stored', generation: '' },
    ])
    assert.deepEqual(await q.selectFrom('removals').select(['name', 'size', 'tries']).execute(), [
      { name: marked, size: 7, tries: 0 },
    ])
    assert.deepEqual(await q.selectFrom('removal_notes').selectAll().execute(), [
      { name: marked, repository: 'releases', artifact_id: 'some' },
    ])
    for (const table of ['reclaim_candidates', 'reclaim_notes'] as const)
      assert.deepEqual(await q.selectFrom(table).select('sha256').execute(), [{ sha256: kept }])
  })
})
