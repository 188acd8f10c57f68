import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { repeatedName } from './repeated-names.ts'

describe('repeatedName', () => {
  it('finds a name that an object has twice, at any depth and however it is written', () => {
    for (const [text, name] of [
      ['{"a":1,"a":1}', 'a'],
      ['{"a":1,"b":{"c":1},"a":2}', 'a'],
      ['[0,{"x":[{"y":{"z":"","z":null}}]}]', 'z'],
      ['{"a":1,"\\u0061":2}', 'a'],
      ['{"\\"":1 , "\\u0022" :2}', '"'],
      ['{"":1,"":2}', ''],
      ['{"a":"{\\"a\\":1","b":[1,2,"a","a"],"b":{}}', 'b'],
    ] as const) {
      JSON.parse(text)
      assert.equal(repeatedName(text), name, text)
    }
  })

  it('finds none where each object has a name once', () => {
    for (const value of [
      {},
      [],
      'a',
      7,
      null,
      { a: { a: { a: [{ a: 1 }, { a: 1 }] } }, b: 'a', c: ['a', 'a', '"a":1,"a":1', '\\', '"'] },
      [{ a: 1, b: [] }, { b: [[], {}], a: {} }, 'a', { ':': ',', ',': ':' }],
    ])
      for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)])
        assert.equal(repeatedName(text), null, text)
  })

  it('reads each character once, however deep and wide', () => {
    const depth = 100_000
    assert.equal(repeatedName(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`), null)
    assert.equal(repeatedName('['.repeat(depth) + ']'.repeat(depth)), null)
    assert.equal(repeatedName(`{${Array.from({ length: depth }, (_, at) => `"${at}":0`).join()},"7":0}`), '7')
    assert.equal(repeatedName(`"${'\\\\'.repeat(depth)}"`), null)
  })
})
