import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seeded } from '../../kernel/virtual-time.suite.ts'
import { Tally } from './tally.ts'

describe('a tally', () => {
  it('knows who has most, as somebody does who counts', () => {
    const random = seeded(7)
    const tally = new Tally()
    const counts = new Map<string, number>()
    for (let step = 0; step < 20_000; step++) {
      const holder = `${Math.floor(random() * 12)}`
      const count = counts.get(holder) ?? 0
      // Ups and downs, each for a while, so that it is empty now and then.
      if (random() < (step % 1_000 < 500 ? 0.6 : 0.3)) {
        tally.add(holder)
        counts.set(holder, count + 1)
      } else if (count > 0) {
        tally.remove(holder)
        counts.set(holder, count - 1)
      }
      const most = Math.max(0, ...counts.values())
      assert.equal(tally.most === null ? 0 : counts.get(tally.most), most)
      assert.equal(tally.of(holder), counts.get(holder) ?? 0)
    }
  })

  it('tells of several with as many who has had them for longest', () => {
    const tally = new Tally()
    for (const holder of ['a', 'b', 'c', 'a', 'b', 'c', 'c']) tally.add(holder)
    assert.equal(tally.most, 'c')
    tally.remove('c')
    assert.equal(tally.most, 'a')
  })
})
