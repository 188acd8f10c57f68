import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { forEachEngine } from '../../../test/harness/engines.ts'
import type { Database } from '../../database/database.ts'
import { migrate } from '../../database/migrate.ts'
import { migrations } from '../../database/migrations/index.ts'
import { openDatabase } from '../../database/open.ts'
import { watchGrowth } from './growth.ts'
import { appendJournal } from './journal.ts'

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
    const growth = watchGrowth({ database: watched, everyMs: 5, waitingMax: 100, waitingPerCallerMax: 100, ...options })
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
      growth,
      here,
      there,
      append,
      looks: () => looks,
      /** Nothing that was asked is without an answer, and whoever asked has heard it. */
      answered: async (): Promise<void> => {
        while (answers < looks) await turn()
        await turn()
      },
      goAway: () => {
        away = true
      },
    }
  }

  describe('waiting for a journal to grow', () => {
    it('ends at once when this process appends, without a look', async () => {
      const { growth, append, here, looks } = await scene({ everyMs: longMs })
      const waiter = growth.register('releases', 'me')
      const grown = waiter.grown(0, longMs)
      await append(here)
      assert.equal(await grown, true)
      assert.equal(looks(), 0)
      growth.end()
    })

    it('hears what is appended between registering and waiting', async () => {
      const { growth, append, here } = await scene({ everyMs: longMs })
      const waiter = growth.register('releases', 'me')
      await append(here)
      assert.equal(await waiter.grown(0, longMs), true)
      growth.end()
    })

    it('ends soon when another process appends', async () => {
      const { growth, append, there } = await scene()
      const grown = growth.register('releases', 'me').grown(0, longMs)
      await append(there)
      assert.equal(await grown, true)
      growth.end()
    })

    it('goes on when nothing is beyond, and ends with the time', async () => {
      const { growth, append, there, looks } = await scene()
      await append(there)
      const waiter = growth.register('releases', 'me')
      assert.equal(await waiter.grown(1, 50), false)
      assert.ok(looks() > 0)
      assert.equal(await waiter.grown(0, longMs), true)
      growth.end()
    })

    it('asks one question for all who wait, and none while nobody does', async (t) => {
      const { growth, looks, answered } = await scene({ everyMs: 5 })
      t.mock.timers.enable({ apis: ['setTimeout'] })
      const questionsIn = async (ms: number): Promise<number> => {
        const before = looks()
        t.mock.timers.tick(ms)
        const asked = looks() - before
        await answered()
        return asked
      }
      assert.equal(await questionsIn(1_000), 0)
      const waiters = Array.from({ length: 60 }, (_, index) => growth.register(`repository-${index % 7}`, `c${index}`))
      const waits = waiters.map((waiter) => waiter.grown(0, longMs))
      assert.equal(await questionsIn(4), 0)
      assert.equal(await questionsIn(1), 1)
      assert.equal(await questionsIn(5), 1)
      for (const waiter of waiters) waiter.leave()
      assert.deepEqual(new Set(await Promise.all(waits)), new Set([false]))
      assert.equal(growth.waiting, 0)
      // The clock that was running when the last one left may ring once more; nobody is there to ask for.
      assert.equal(await questionsIn(1_000), 0)
      const again = growth.register('releases', 'me').grown(0, longMs)
      assert.equal(await questionsIn(5), 1)
      growth.end()
      assert.equal(await again, false)
    })

    it('ends for one who leaves, and for all when all is over', async () => {
      const { growth } = await scene()
      const [one, two] = [growth.register('releases', 'me'), growth.register('releases', 'me')]
      const [first, second] = [one.grown(0, longMs), two.grown(0, longMs)]
      one.leave()
      assert.equal(await first, false)
      assert.equal(await one.grown(0, longMs), false)
      growth.end()
      assert.equal(await second, false)
      assert.equal(await two.grown(0, longMs), false)
      assert.equal(await growth.register('releases', 'late').grown(0, longMs), false)
    })

    it('fails for all who wait when the database does not answer, and not for who comes later', async () => {
      const { growth, goAway } = await scene()
      const waits = [1, 2, 3].map(() => growth.register('releases', 'me').grown(0, longMs))
      goAway()
      for (const wait of waits) await assert.rejects(wait, { message: 'away' })
      growth.end()
    })

    it('is refused beyond the limits of one caller and of all, until somebody leaves', async () => {
      const { growth } = await scene({ waitingMax: 3, waitingPerCallerMax: 2 })
      const mine = [growth.register('releases', 'me'), growth.register('other', 'me')]
      assert.throws(() => growth.register('releases', 'me'), { code: 'busy' })
      const another = growth.register('releases', 'another')
      assert.throws(() => growth.register('releases', 'third'), { code: 'busy' })
      mine[0]?.leave()
      mine[0]?.leave()
      assert.equal(growth.waiting, 2)
      const third = growth.register('releases', 'third')
      assert.throws(() => growth.register('releases', 'me'), { code: 'busy' })
      for (const waiter of [...mine, another, third]) waiter.leave()
      assert.equal(growth.waiting, 0)
      growth.end()
    })
  })
})
