import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lineDifferences } from './line-differences.ts'

const told = (one: string, other: string): string[] | undefined =>
  lineDifferences(one, other)?.map(
    ({ kind, text }) => `${{ same: ' ', added: '+', removed: '-', between: '' }[kind]}${text}`,
  )

describe('differences by lines', () => {
  it('are what was added and removed, with what is around it', () => {
    const many = Array.from({ length: 20 }, (_, n) => `line ${n}`)
    const changed = many.toSpliced(10, 1, 'another', 'and one')
    assert.deepEqual(told(many.join('\n'), changed.join('\n')), [
      '⋯',
      ' line 7',
      ' line 8',
      ' line 9',
      '-line 10',
      '+another',
      '+and one',
      ' line 11',
      ' line 12',
      ' line 13',
      '⋯',
    ])
    assert.deepEqual(told('a\nb\nc', 'b\nc\nd'), ['-a', ' b', ' c', '+d'])
  })

  it('make the one text of the other, whatever they are', () => {
    for (let seed = 1; seed < 200; seed += 1) {
      const text = (salt: number): string =>
        Array.from({ length: (seed * salt) % 9 }, (_, n) => 'abc'[(seed * salt * (n + 7)) % 3]).join('\n')
      const [one, other] = [text(5), text(11)]
      const lines = lineDifferences(one, other) ?? assert.fail('they are short')
      const kept = lines.filter(({ kind }) => kind !== 'between')
      if (kept.length !== lines.length) continue
      const side = (left: 'added' | 'removed'): string =>
        kept.flatMap(({ kind, text: line }) => (kind === left ? [] : [line])).join('\n')
      assert.deepEqual([side('added'), side('removed')], [one, other])
    }
  })

  it('are not looked for where that would take long', () => {
    const lines = (salt: string): string => Array.from({ length: 3_000 }, (_, n) => `${salt}${n}`).join('\n')
    assert.equal(lineDifferences(lines('a'), lines('b')), null)
    assert.deepEqual(told(lines('a'), lines('a')), ['⋯'])
  })
})
