import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import type { Database } from '../../../database/database.ts'
import { migrate } from '../../../database/migrate.ts'
import { migrations } from '../../../database/migrations/index.ts'
import { openDatabase } from '../../../database/open.ts'
import { day, hour } from '../../../kernel/units.ts'
import { sampleUsage, usageSamples } from './samples.ts'

const start = Date.parse('2026-01-01T00:30:00.000Z')
const going = (): boolean => false

forEachEngine((engine) => {
  const openMigrated = async (): Promise<Database> => {
    const database = engine.use(await openDatabase({ url: await engine.freshDatabaseUrl(), report: () => {} }))
    await migrate(database, migrations)
    return database
  }
  const fill = (database: Database, published_bytes: number): Promise<void> =>
    database.transaction(async (tx) => {
      await tx.updateTable('repositories').set({ published_bytes }).where('id', '=', 'releases').execute()
    })

  describe('how full a repository was', () => {
    it('is written down once an hour, where it became another', async () => {
      const database = await openMigrated()
      let now = start
      const deps = { database, clock: { now: () => now } }
      const told = async (days = 31) =>
        (await usageSamples(deps, 'releases', days)).items.map(({ takenAt, publishedBytes }) => [
          takenAt.slice(0, 13),
          publishedBytes,
        ])
      await sampleUsage(deps, going)
      await fill(database, 5)
      await sampleUsage(deps, going)
      assert.deepEqual(await told(), [['2026-01-01T00', '0']], 'the hour has its sample')
      now += hour
      await sampleUsage(deps, going)
      now += hour
      await sampleUsage(deps, going)
      const both = [
        ['2026-01-01T00', '0'],
        ['2026-01-01T01', '5'],
      ]
      assert.deepEqual(await told(), both)
      now += 3 * day
      assert.deepEqual(await told(1), [['2026-01-01T01', '5']], 'what held on at the beginning is told')
      assert.deepEqual(await told(40), [['2026-01-01T01', '5']], 'the last of the day')
    })

    it('is forgotten after a good year', async () => {
      const database = await openMigrated()
      let now = start
      const deps = { database, clock: { now: () => now } }
      await sampleUsage(deps, going)
      now += 401 * day
      await fill(database, 7)
      await sampleUsage(deps, going)
      assert.deepEqual(
        (await usageSamples(deps, 'releases', 400)).items.map(({ publishedBytes }) => publishedBytes),
        ['7'],
      )
    })
  })
})
