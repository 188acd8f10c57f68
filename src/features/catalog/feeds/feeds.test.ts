import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import { publishedLine } from '../../../../test/harness/journal-line.ts'
import type { Database } from '../../../database/database.ts'
import { migrate } from '../../../database/migrate.ts'
import { migrations } from '../../../database/migrations/index.ts'
import { openDatabase } from '../../../database/open.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { watchJournal } from '../../../journal/repository/watch.ts'
import { OwningScope } from '../../../kernel/scope.ts'
import { stretchAfter } from '../../../kernel/sequence.ts'
import { auditPage } from './audit.ts'
import { nextChanges } from './changes.ts'

forEachEngine((engine) => {
  describe('what readers of a journal are told', () => {
    it('is durable before they are told: a sequence never comes to mean something else', async () => {
      const database = engine.use(await openDatabase({ url: await engine.readyDatabaseUrl(), report: () => {} }))
      await migrate(database, migrations)
      const disk = Promise.withResolvers<void>()
      const slow: Database = {
        get patient() {
          return this
        },
        engine: database.engine,
        reader: database.reader,
        transaction: (work, options) => database.transaction(work, options),
        snapshot: (work) => database.snapshot(work),
        listen: (listener) => database.listen(listener),
        settled: () => disk.promise,
        probe: () => database.probe(),
        [Symbol.asyncDispose]: async () => {},
      }
      await database.transaction((tx) => appendJournal(tx, publishedLine('releases')))
      const watch = watchJournal({ database: slow, everyMs: 60_000, waitingMax: 1, waitingPerCallerMax: 1 })
      const asker = { caller: 'me', scope: new OwningScope(assert.ifError), admitAgain: async () => {} }
      const told: unknown[] = []
      const wanted = { after: 0, limit: 10, waitMs: 0 }
      const answers = [
        nextChanges({ database: slow, watch }, 'releases', wanted, asker).then(({ items }) => told.push(items.length)),
        auditPage(slow, 'releases', stretchAfter('asc', undefined)).then(({ items }) => told.push(items.length)),
      ]
      // Long enough for every query; the disk takes longer.
      await database.probe()
      for (let rounds = 0; rounds < 100; rounds++) await nextRound()
      assert.deepEqual(told, [])
      disk.resolve()
      await Promise.all(answers)
      assert.deepEqual(told, [1, 1])
      watch.end()
    })
  })
})
