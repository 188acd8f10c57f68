import assert from 'node:assert/strict'
import { it } from 'node:test'
import { highestThat } from './halving.ts'

it('the highest number is found by halves', async () => {
  for (const most of [0, 1, 2, 7, 1000])
    for (const wanted of new Set([0, 1, 2, 500, most].filter((each) => each <= most))) {
      let looks = 0
      const holds = async (number: number) => {
        looks += 1
        return number <= wanted
      }
      assert.equal(await highestThat(most, holds), wanted)
      assert.ok(looks <= 10, `${looks} looks`)
    }
})
