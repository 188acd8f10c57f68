import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { forEachEngine } from '../../../test/harness/engines.ts'
import type { Database } from '../../database/database.ts'
import { migrate } from '../../database/migrate.ts'
import { migrations } from '../../database/migrations/index.ts'
import { openDatabase } from '../../database/open.ts'
import { appendJournal } from './journal.ts'
import { watchJournal } from './watch.ts'

const report = (message: string, error: unknown): void => {
  throw new Error(message, { cause: error })
}
const longMs = 60_000

forEachEngine((engine) => {
  /** A database, and the same one as another process sees it. */
  const scene = async (options: { everyMs?: number; waitingMax?: number; waitingPerCallerMax?: number } = {}) => {
    const url = await engine.readyDatabaseUrl()
    const here = engine.use(await openDatabase({ url, report }))
    await migrate(here, migrations)
    const there = engine.use(await openDatabase({ url, report }))
    let looks = 0
    let answers = 0
    let away = false
    const counted = here.reader.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        answers++
        return result
      },
    })
    const watched: Database = {
      get patient() {
        return this
      },
      engine: here.engine,
      get reader() {
        looks++
        if (away) throw new Error('away')
        return counted
      },
      transaction: (work) => here.transaction(work),
      snapshot: (work) => here.snapshot(work),
      listen: (listener) => here.listen(listener),
      settled: () => here.settled(),
      probe: () => here.probe(),
      [Symbol.asyncDispose]: async () => {},
    }
    const watch = watchJournal({ database: watched, everyMs: 5, waitingMax: 100, waitingPerCallerMax: 100, ...options })
    const append = (database: Database, repository = 'releases'): Promise<void> =>
      database.transaction((tx) =>
        appendJournal(tx, {
          repository,
          action: 'artifact.publish',
          artifactId: 'one',
          detail: null,
          actor: 'account:someone',
          occurredAt: new Date(0).toISOString(),
        }),
      )
    return {
      added: watch,
      here,
      there,
      append,
      looks: () => looks,
      /** Nothing that was asked is without an answer, and whoever asked has heard it. */
      answered: async (): Promise<void> => {
        while (answers < looks) await nextRound()
        await nextRound()
      },
      goAway: () => {
        away = true
      },
    }
  }

  describe('waiting for a journal to grow', () => {
    it('ends at once when this process appends, without a look', async () => {
      const { added: watch, append, here, looks } = await scene({ everyMs: longMs })
      const waiter = watch.register('releases', 'me')
      const changed = waiter.changed(0, longMs)
      await append(here)
      assert.equal(await changed, true)
      assert.equal(looks(), 0)
      watch.end()
    })

    it('hears what is appended between registering and waiting', async () => {
      const { added: watch, append, here } = await scene({ everyMs: longMs })
      const waiter = watch.register('releases', 'me')
      await append(here)
      assert.equal(await waiter.changed(0, longMs), true)
      watch.end()
    })

    it('ends soon when another process appends', async () => {
      const { added: watch, append, there } = await scene()
      const changed = watch.register('releases', 'me').changed(0, longMs)
      await append(there)
      assert.equal(await changed, true)
      watch.end()
    })

    it('goes on when nothing is beyond, and ends with the time', async () => {
      const { added: watch, append, there, looks } = await scene()
      await append(there)
      const waiter = watch.register('releases', 'me')
      assert.equal(await waiter.changed(1, 50), false)
      assert.ok(looks() > 0)
      assert.equal(await waiter.changed(0, longMs), true)
      watch.end()
    })

    it('asks one question for all who wait, and none while nobody does', async (t) => {
      const { added: watch, looks, answered } = await scene({ everyMs: 5 })
      t.mock.timers.enable({ apis: ['setTimeout'] })
      const questionsIn = async (ms: number): Promise<number> => {
        const before = looks()
        t.mock.timers.tick(ms)
        const asked = looks() - before
        await answered()
        return asked
      }
      assert.equal(await questionsIn(1_000), 0)
      const waiters = Array.from({ length: 60 }, (_, index) => watch.register(`repository-${index % 7}`, `c${index}`))
      const waits = waiters.map((waiter) => waiter.changed(0, longMs))
      assert.equal(await questionsIn(4), 0)
      assert.equal(await questionsIn(1), 1)
      assert.equal(await questionsIn(5), 1)
      for (const waiter of waiters) waiter.leave()
      assert.deepEqual(new Set(await Promise.all(waits)), new Set([false]))
      assert.equal(watch.waiting, 0)
      // The clock that was running when the last one left may ring once more; nobody is there to ask for.
      assert.equal(await questionsIn(1_000), 0)
      const again = watch.register('releases', 'me').changed(0, longMs)
      assert.equal(await questionsIn(5), 1)
      watch.end()
      assert.equal(await again, false)
    })

    it('ends for one who leaves, and for all when all is over', async () => {
      const { added: watch } = await scene()
      const [one, two] = [watch.register('releases', 'me'), watch.register('releases', 'me')]
      const [first, second] = [one.changed(0, longMs), two.changed(0, longMs)]
      one.leave()
      assert.equal(await first, false)
      assert.equal(await one.changed(0, longMs), false)
      watch.end()
      assert.equal(await second, false)
      assert.equal(await two.changed(0, longMs), false)
      assert.equal(await watch.register('releases', 'late').changed(0, longMs), false)
    })

    it('fails for all who wait when the database does not answer, and not for who comes later', async () => {
      const { added: watch, goAway } = await scene()
      const waits = [1, 2, 3].map(() => watch.register('releases', 'me').changed(0, longMs))
      goAway()
      for (const wait of waits) await assert.rejects(wait, { message: 'away' })
      watch.end()
    })

    it('is refused beyond the limits of one caller and of all, until somebody leaves', async () => {
      const { added: watch } = await scene({ waitingMax: 3, waitingPerCallerMax: 2 })
      const mine = [watch.register('releases', 'me'), watch.register('other', 'me')]
      assert.throws(() => watch.register('releases', 'me'), { code: 'busy' })
      const another = watch.register('releases', 'another')
      assert.throws(() => watch.register('releases', 'third'), { code: 'busy' })
      mine[0]?.leave()
      mine[0]?.leave()
      assert.equal(watch.waiting, 2)
      const third = watch.register('releases', 'third')
      assert.throws(() => watch.register('releases', 'me'), { code: 'busy' })
      for (const waiter of [...mine, another, third]) waiter.leave()
      assert.equal(watch.waiting, 0)
      watch.end()
    })
  })
})
