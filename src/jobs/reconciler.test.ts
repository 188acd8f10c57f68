import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { startReconciler } from './reconciler.ts'

/** A reconciler whose runs end when the test says so, on a clock that the test turns. */
const scene = (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const runs: { end: () => void; fail: (error: Error) => void }[] = []
  const reports: string[] = []
  let running = 0
  let most = 0
  const reconciler = startReconciler({
    name: 'the test',
    everyMs: 1000,
    run: async () => {
      running += 1
      most = Math.max(most, running)
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      runs.push({ end: resolve, fail: reject })
      try {
        await promise
      } finally {
        running -= 1
      }
    },
    report: (message, error) => reports.push(`${message}: ${error instanceof Error ? error.message : error}`),
  })
  /** Lets promises settle; no time passes. */
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { reconciler, runs, reports, settle, most: () => most, timers: t.mock.timers }
}

describe('a reconciler', () => {
  it('runs at once, then whenever its time has come', async (t) => {
    const { reconciler, runs, settle, timers } = scene(t)
    assert.equal(runs.length, 1)
    timers.tick(5000)
    await settle()
    assert.equal(runs.length, 1, 'no second run beside the first')
    runs[0]?.end()
    await settle()
    timers.tick(999)
    await settle()
    assert.equal(runs.length, 1)
    timers.tick(1)
    await settle()
    assert.equal(runs.length, 2)
    runs[1]?.end()
    await reconciler.stop()
  })

  it('runs soon when it is woken, once for many wakes', async (t) => {
    const { reconciler, runs, settle } = scene(t)
    runs[0]?.end()
    await settle()
    for (let wakes = 0; wakes < 5; wakes++) reconciler.wake()
    await settle()
    assert.equal(runs.length, 2)
    runs[1]?.end()
    await settle()
    assert.equal(runs.length, 2)
    await reconciler.stop()
  })

  it('runs again after a run that was under way when it was woken, never beside it', async (t) => {
    const { reconciler, runs, settle, most } = scene(t)
    reconciler.wake()
    reconciler.wake()
    await settle()
    assert.equal(runs.length, 1)
    runs[0]?.end()
    await settle()
    assert.equal(runs.length, 2)
    runs[1]?.end()
    await settle()
    assert.equal(runs.length, 2)
    assert.equal(most(), 1)
    await reconciler.stop()
  })

  it('tells of a failed run and goes on', async (t) => {
    const { reconciler, runs, reports, settle, timers } = scene(t)
    runs[0]?.fail(new Error('no luck'))
    await settle()
    assert.deepEqual(reports, ['the test failed; it runs again in 1 seconds: no luck'])
    timers.tick(1000)
    await settle()
    assert.equal(runs.length, 2)
    runs[1]?.end()
    await reconciler.stop()
  })

  it('stops after the run that is under way, and never runs again', async (t) => {
    const { reconciler, runs, settle, timers } = scene(t)
    let stopped = false
    const stopping = reconciler.stop().then(() => {
      stopped = true
    })
    await settle()
    assert.equal(stopped, false)
    runs[0]?.end()
    await stopping
    reconciler.wake()
    timers.tick(10_000)
    await settle()
    assert.equal(runs.length, 1)
  })

  it('stops at once while it sleeps', async (t) => {
    const { reconciler, runs, settle } = scene(t)
    runs[0]?.end()
    await settle()
    await reconciler.stop()
    assert.equal(runs.length, 1)
  })
})
