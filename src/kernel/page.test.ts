import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pageOf } from './page.ts'

describe('a page', () => {
  const page = (rows: readonly number[], limit: number) => pageOf(rows, limit, (row) => row * 10, String)

  it('tells of the next one where a row more was found than it holds', () => {
    assert.deepEqual(page([1, 2, 3], 2), { items: [10, 20], next: '2' })
  })

  it('is the last one where there is none more, full or not', () => {
    assert.deepEqual(page([1, 2], 2), { items: [10, 20], next: null })
    assert.deepEqual(page([1], 2), { items: [10], next: null })
    assert.deepEqual(page([], 2), { items: [], next: null })
  })
})
