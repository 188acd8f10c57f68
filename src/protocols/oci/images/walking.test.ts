import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { imageNamesAtOnce, imageNamesRounds } from '../../../kernel/limits/oci.ts'
import { type Position, type Walk, type Walked, walked } from './walking.ts'

/** The numbers below one, in order, of which some are looked for; counts those that it had to look at. */
const list = (length: number, isWanted: (number: number) => boolean) => {
  let looked = 0
  const placeBehind = (position: Position | null): number => (position === null ? 0 : Number(position[0]) + 1)
  const walk: Walk<number> = {
    ahead: async (from, entries) => {
      const place = placeBehind(from) + entries - 1
      return place < length ? [String(place)] : null
    },
    between: async (from, to, limit) => {
      const found: number[] = []
      const end = to === null ? length : placeBehind(to)
      for (let at = placeBehind(from); at < end && found.length < limit; at += 1) {
        looked += 1
        if (isWanted(at)) found.push(at)
      }
      return found
    },
    positionOf: (number) => [String(number)],
  }
  return { walk, looked: () => looked }
}

describe('walking a list', () => {
  const most = imageNamesAtOnce * imageNamesRounds

  it('finds everything once, in order, whatever the pages', async () => {
    const isWanted = (number: number): boolean => number % 7_001 === 3 || (number > 20_000 && number < 20_010)
    const all = Array.from({ length: 90_000 }, (_, number) => number).filter(isWanted)
    for (const limit of [1, 2, 9, 100]) {
      const found: number[] = []
      for (let from: Position | null = null; ; ) {
        const { rows, next }: Walked<number> = await walked(list(90_000, isWanted).walk, from, limit)
        assert.ok(rows.length <= limit)
        found.push(...rows)
        if (next === null) break
        from = next
      }
      assert.deepEqual(found, all)
    }
  })

  it('looks at so many entries for a page and no more, and goes on from there', async () => {
    const { walk, looked } = list(1_000_000, (number) => number === 999_999)
    const { rows, next } = await walked(walk, null, 100)
    assert.deepEqual([rows, next, looked()], [[], [String(most - 1)], most])
    assert.deepEqual(await walked(walk, ['999000'], 100), { rows: [999_999], next: null })
  })

  it('ends with the list, also where that ends with a page', async () => {
    for (const length of [0, 1, imageNamesAtOnce, imageNamesAtOnce + 1, 3 * imageNamesAtOnce]) {
      const { rows, next } = await walked(list(length, (number) => number === length - 1).walk, null, 1)
      assert.deepEqual([rows, next], [length === 0 ? [] : [length - 1], null])
    }
  })
})
