import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { matchesPattern } from './wildcard-pattern.ts'

describe('a pattern with wildcards', () => {
  it('is a text, with * for any characters or none', () => {
    for (const [pattern, text] of [
      ['v1.0', 'v1.0'],
      ['*', ''],
      ['*', 'latest'],
      ['v*', 'v'],
      ['v*', 'v1.0'],
      ['*-rc', '1.0-rc'],
      ['1.*.0', '1.2.0'],
      ['a*b*c', 'a-b-b-c'],
      ['**', 'x'],
    ] as const)
      assert.ok(matchesPattern(pattern, text), `${pattern} ${text}`)
    for (const [pattern, text] of [
      ['', 'v'],
      ['v1.0', 'v1-0'],
      ['v*', 'V1'],
      ['v*', 'dev1'],
      ['aba*ba', 'aba'],
      ['a*b*b', 'ab'],
      ['*b*', 'aaa'],
    ] as const)
      assert.ok(!matchesPattern(pattern, text), `${pattern} ${text}`)
  })

  it('says what a regular expression says', () => {
    const few = (characters: string) =>
      fc.array(fc.constantFrom(...characters), { maxLength: 9 }).map((all) => all.join(''))
    fc.assert(
      fc.property(few('ab.*'), few('ab.'), (pattern, text) => {
        const expression = pattern.replaceAll('.', '\\.').replaceAll('*', '.*')
        assert.equal(matchesPattern(pattern, text), new RegExp(`^${expression}$`).test(text))
      }),
      { numRuns: 5_000 },
    )
  })
})
