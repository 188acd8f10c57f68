import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { highestPositionBefore, idPosition, lowestPositionAfter } from './id-position.ts'
import { newId } from './ids.ts'

describe('the position of an id', () => {
  it('grows with the ids of a process, and is a safe integer for the time being', () => {
    const ids = Array.from({ length: 10_000 }, (_, i) => newId(Date.now() + Math.floor(i / 3_000)))
    const positions = ids.map(idPosition)
    for (const [i, position] of positions.entries()) assert.ok(i === 0 || position > (positions[i - 1] ?? 0))
    for (const time of ['2024-01-01', '2093-01-01']) {
      const position = idPosition(newId(Date.parse(time)))
      assert.ok(Number.isSafeInteger(position) && position >= 0)
    }
  })

  it('never lies beyond where the search for what comes after or before another text begins', () => {
    const uuid = fc.uuid({ version: [1, 4, 7, 8, 15] })
    fc.assert(
      fc.property(uuid, fc.nat(2 ** 42), (after, ms) => {
        for (const time of [ms, Number.parseInt(after.slice(0, 8) + after.slice(9, 13), 16)]) {
          const id = newId(time)
          if (id < after) assert.ok(idPosition(id) <= highestPositionBefore(after), `${id} before ${after}`)
          if (id > after) assert.ok(idPosition(id) >= lowestPositionAfter(after), `${id} after ${after}`)
        }
      }),
    )
    assert.equal(lowestPositionAfter(''), 0)
    assert.equal(highestPositionBefore(''), Number.MAX_SAFE_INTEGER)
  })
})
