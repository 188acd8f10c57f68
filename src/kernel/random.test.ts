import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freshBytes } from './random.ts'

describe('fresh bytes', () => {
  it('are handed out once each, in any numbers', () => {
    const seen = new Set<string>()
    let all = 0
    for (let round = 0; round < 5_000; round++)
      for (const count of [10, 16, 64]) {
        const bytes = freshBytes(count)
        assert.equal(bytes.length, count)
        // Nine bytes at least: that two of them are alike by chance happens to nobody.
        for (let at = 0; at + 9 <= count; at += 9) {
          seen.add(bytes.toString('hex', at, at + 9))
          all += 1
        }
      }
    assert.equal(seen.size, all)
  })
})
