import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cursorAt, orders, startAfter } from './order.ts'

describe('the cursor of an order', () => {
  it('leads back to its position, and is refused by the other order', () => {
    assert.deepEqual(startAfter(), { order: 'asc', after: '' })
    assert.deepEqual(startAfter('desc'), { order: 'desc', after: '' })
    for (const order of orders)
      for (const other of orders) {
        const cursor = cursorAt(order, '12')
        if (order === other) assert.deepEqual(startAfter(other, cursor), { order, after: '12' })
        else assert.throws(() => startAfter(other, cursor), { code: 'invalid_request' })
      }
    assert.equal(cursorAt('asc', '12'), '12')
  })
})
