import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { madeAtMs, newId } from './ids.ts'

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const msOf = (id: string): number => madeAtMs(id) ?? Number.NaN

/** The module remembers the latest time it was given: each test begins after those of the others. */
let latest = Date.UTC(2026, 0, 1)
const later = (ms: number): number => {
  latest += ms
  return latest
}

const grows = (ids: readonly string[]): void => {
  for (const [n, id] of ids.entries()) {
    const last = ids[n - 1]
    assert.match(id, uuid7)
    assert.ok(last === undefined || last < id, `${last} before ${id}`)
  }
}

describe('newId', () => {
  it('tells the time that it was given', () => {
    const ms = later(1_000)
    assert.equal(msOf(newId(ms)), ms)
    const afterwards = later(1)
    assert.equal(msOf(newId(afterwards)), afterwards)
  })

  it('counts up within a millisecond, and on into the next when it runs out', () => {
    const ms = later(1_000)
    const ids = Array.from({ length: 20_000 }, () => newId(ms))
    grows(ids)
    const used = new Set(ids.map(msOf))
    assert.ok(used.size >= 4, '20,000 ids need more than the 4,096 of one millisecond')
    assert.ok(Math.max(...used) - ms < 11, 'at least 2,048 fit in each')
    later(1_000)
  })

  it('keeps growing while the clock goes anywhere', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -100_000, max: 1_000 }), { maxLength: 200 }), (steps) => {
        grows(steps.map((step) => newId(later(Math.max(step, 0)) + Math.min(step, 0))))
      }),
    )
    later(1_000)
  })

  it('keeps its form and its order when the clock stands at 1970 or before', () => {
    grows([newId(later(1)), newId(0), newId(-1), newId(later(1))])
  })

  it('shares no random bits between ids', () => {
    const ms = later(1_000)
    const tails = Array.from({ length: 2_000 }, () => newId(ms).slice(19))
    assert.equal(new Set(tails).size, tails.length)
    for (let bit = 0; bit < 62; bit++) {
      const ones = tails.filter((tail) => (BigInt(`0x${tail.replace('-', '')}`) >> BigInt(bit)) & 1n).length
      // 2,000 throws of a coin: seven standard deviations around the middle.
      assert.ok(Math.abs(ones - 1_000) < 157, `bit ${bit} is set in ${ones} of 2,000`)
    }
  })
})

describe('madeAtMs', () => {
  it('says nothing of what is no id of ours', () => {
    for (const id of ['', 'place', `x${newId(later(1))}`, '0199aaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee'])
      assert.equal(madeAtMs(id), null, id)
  })
})
