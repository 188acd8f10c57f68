import assert from 'node:assert/strict'
import { test } from 'node:test'
import { workedAtOnceMs } from '../../../kernel/limits/process.ts'
import { Rounds } from './rounds.ts'

test('others have their turn once something took long, however many things that were, and not before', async () => {
  let [now, others] = [0, 0]
  const rounds = new Rounds(() => now)
  const work = async (things: number, msOfEach: number): Promise<number> => {
    const before = others
    for (let thing = 0; thing < things; thing++) {
      setImmediate(() => {
        others += 1
      })
      const round = rounds.next()
      if (round !== null) await round
      now += msOfEach
    }
    return others - before
  }
  assert.equal(await work(100, workedAtOnceMs / 200), 0)
  assert.equal(await work(100, workedAtOnceMs / 200), 0)
  assert.ok((await work(100, workedAtOnceMs / 10)) >= 90)
})
