import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { upkeepBatch, upkeepFailuresMax } from './limits/upkeep.ts'
import { upkeepRun } from './one-by-one.ts'

/** Items that go when they are worked on, unless they are bad. */
const scene = (count: number, isBad: (item: number) => boolean) => {
  const left = new Set(Array.from({ length: count }, (_, item) => item))
  const reports: string[] = []
  const run = upkeepRun((message) => void reports.push(message))
  const each = (): Promise<number> =>
    run.each('the look', {
      what: (item: number) => `item ${item}`,
      key: String,
      find: async (limit) => [...left].slice(0, limit),
      work: async (item) => {
        if (isBad(item)) throw new Error('bad')
        left.delete(item)
      },
    })
  return { left, reports, run, each }
}

describe('a run of upkeep', () => {
  it('passes over what fails, wherever it lies, does all the rest, and is no good run', async () => {
    const { left, reports, run, each } = scene(3 * upkeepBatch, (item) => item < 50 || item === 3 * upkeepBatch - 1)
    assert.equal(await each(), 3 * upkeepBatch - 51)
    assert.equal(left.size, 51)
    assert.equal(reports.length, 51)
    assert.match(reports[0] ?? '', /^item 0 failed/)
    assert.throws(() => run.end(), { name: 'UpkeepIncomplete' })
  })

  it('gives a step up when very many fail, and goes on with the next', async () => {
    const { reports, run, each } = scene(1_000, () => true)
    await each()
    assert.equal(reports.length, upkeepFailuresMax + 1)
    assert.equal(await run.attempt('another', async () => {}), true)
  })

  it('that did everything is a good one', async () => {
    const { left, run, each } = scene(2 * upkeepBatch, () => false)
    assert.equal(await each(), 2 * upkeepBatch)
    assert.equal(left.size, 0)
    run.end()
  })
})
