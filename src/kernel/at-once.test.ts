import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { atOnce } from './at-once.ts'

describe('work on every item', () => {
  it('is done by so many at once and no more, begun in order', async () => {
    const begun: number[] = []
    let under = 0
    let most = 0
    await atOnce([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      begun.push(item)
      under += 1
      most = Math.max(most, under)
      await new Promise((resolve) => setImmediate(resolve))
      under -= 1
    })
    assert.deepEqual([begun, most, under], [[1, 2, 3, 4, 5, 6, 7], 3, 0])
  })

  it('begins nothing new after a failure, and tells of the first when the rest has ended', async () => {
    const ended: number[] = []
    const work = async (item: number): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve))
      if (item === 2) throw new Error('two')
      ended.push(item)
    }
    await assert.rejects(atOnce([1, 2, 3, 4, 5, 6], 2, work), /two/)
    assert.ok(ended.includes(1) && !ended.includes(6))
  })
})
