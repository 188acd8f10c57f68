import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowOf, rowText } from './rows.ts'

test('a row is one line of JSON, with or without bytes in it, and is read as it was', () => {
  const plain = { id: 'one', note: 'two\nlines, "quoted", and ü', size: 3, until: null }
  assert.equal(rowText(plain), '{"id":"one","note":"two\\nlines, \\"quoted\\", and ü","size":3,"until":null}')
  const bytes = { ...plain, bytes: Buffer.from([0, 255]), none: new Uint8Array() }
  assert.equal(rowText(bytes), `${rowText(plain).slice(0, -1)},"bytes":{"base64":"AP8="},"none":{"base64":""}}`)
  assert.deepEqual(rowOf(rowText(plain), ['id', 'note', 'size', 'until']), plain)
  const read = rowOf(rowText(bytes), ['bytes', 'id', 'none', 'note', 'size', 'until'])
  assert.deepEqual(read, { ...bytes, none: Buffer.alloc(0) })
  assert.throws(() => rowOf(rowText(plain), ['id', 'note', 'size']), RangeError)
})
