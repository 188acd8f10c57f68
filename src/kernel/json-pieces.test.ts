import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isBeyond } from './json-pieces.ts'

const max = { count: 10, depth: 3 }

describe('a JSON text', () => {
  it('has as many pieces, and as deep ones, as stand in it outside of strings', () => {
    for (const text of [
      '',
      'x',
      '"',
      '"\\"',
      '"[[[[[[[[[[[["',
      '"\\"[[[["',
      '{"a,,,,,,,,,,":1}',
      '[[[]]]',
      '[[],[],[]]',
      ']]]]]]]]]]]]',
    ])
      assert.ok(!isBeyond(text, max), text)
    for (const text of ['[[[[', '{"a":{"b":{"c":{', '[1,1,1,1,1,1,1,1,1,1,1]', `{${'"":"",'.repeat(5)}`, '"\\\\"[[[['])
      assert.ok(isBeyond(text, max), text)
  })

  it('is looked at no further than to its bound', () => {
    const long = '['.repeat(50_000_000)
    const begun = performance.now()
    for (let times = 0; times < 1_000; times++) assert.ok(isBeyond(long, max))
    assert.ok(performance.now() - begun < 5_000)
  })
})
