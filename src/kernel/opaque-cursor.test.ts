import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { opaqueCursor, positionOfCursor } from './opaque-cursor.ts'

describe('an opaque cursor', () => {
  it('leads back to its position in the list that it is of, and is refused by every other', () => {
    const position = ['Straße/ä', '', '2026-11-21T14:42:53.431Z']
    const cursor = opaqueCursor(['releases', 'asc', undefined], position)
    assert.match(cursor, /^[A-Za-z0-9_-]+$/)
    assert.deepEqual(positionOfCursor(['releases', 'asc', undefined], cursor), position)
    for (const [listing, given] of [
      [['releases', 'desc', undefined], cursor],
      [['releases', 'asc', 'x'], cursor],
      [['releases', 'asc', undefined], `${cursor}A`],
      [['releases', 'asc', undefined], 'YWJj'],
      [['releases', 'asc', undefined], ''],
    ] as const)
      assert.throws(() => positionOfCursor(listing, given), { code: 'invalid_request' })
  })
})
