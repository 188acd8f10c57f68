import assert from 'node:assert/strict'
import { it } from 'node:test'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import { migrate } from '../../../database/migrate.ts'
import { migrations } from '../../../database/migrations/index.ts'
import { openDatabase } from '../../../database/open.ts'
import { day, minute } from '../../../kernel/units.ts'
import { sampleService, serviceSamples } from './samples.ts'

forEachEngine((engine) => {
  it('what the service has to do is written down every ten minutes, and kept for a month', async () => {
    const database = engine.use(await openDatabase({ url: await engine.freshDatabaseUrl(), report: () => {} }))
    await migrate(database, migrations)
    let now = Date.parse('2026-01-01T00:05:00.000Z')
    const deps = { database, clock: { now: () => now } }
    for (let step = 0; step < 8; step++) {
      await sampleService(deps)
      now += 5 * minute
    }
    const told = async (days: number) =>
      (await serviceSamples(deps, days)).items.map(({ takenAt }) => takenAt.slice(11, 16))
    assert.deepEqual(await told(1), ['00:00', '00:10', '00:20', '00:30', '00:40'])
    assert.deepEqual(await told(8), ['00:40'], 'the last of the hour')
    const [first] = (await serviceSamples(deps, 1)).items
    assert.deepEqual(
      { ...first, takenAt: '' },
      {
        ...{ takenAt: '', publishedBytes: '0', reservedBytes: '0', openUploadSessions: 0, openJobs: 0 },
      },
    )
    now += 32 * day
    await sampleService(deps)
    assert.equal((await database.reader.selectFrom('service_samples').select('taken_at').execute()).length, 1)
  })
})
