import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { opaqueCursor, positionOfCursor } from './opaque-cursor.ts'

describe('an opaque cursor', () => {
  it('leads back to its position in the list that it is of, and is refused by every other', () => {
    const any = (): boolean => true
    const grammar = [any, any, any]
    const position = ['Straße/ä', '', '2026-11-21T14:42:53.431Z']
    const cursor = opaqueCursor(['releases', 'asc', undefined], position)
    assert.match(cursor, /^[A-Za-z0-9_-]+$/)
    assert.deepEqual(positionOfCursor(['releases', 'asc', undefined], cursor, grammar), position)
    for (const [listing, given] of [
      [['releases', 'desc', undefined], cursor],
      [['releases', 'asc', 'x'], cursor],
      [['releases', 'asc', undefined], `${cursor}A`],
      [['releases', 'asc', undefined], 'YWJj'],
      [['releases', 'asc', undefined], ''],
    ] as const)
      assert.throws(() => positionOfCursor(listing, given, grammar), { code: 'invalid_request' })
  })

  it('is refused with more texts or fewer than the list has, or with one that it cannot have', () => {
    const isDigit = (text: string): boolean => /^[0-9]$/.test(text)
    const at = (position: string[]) => positionOfCursor(['x'], opaqueCursor(['x'], position), [isDigit, isDigit])
    assert.deepEqual(at(['1', '2']), ['1', '2'])
    for (const forged of [['1'], [], ['1', '2', '3'], ['1', ''], ['1', 'x'], ['1\0', '2']])
      assert.throws(() => at(forged), { code: 'invalid_request' })
  })
})
