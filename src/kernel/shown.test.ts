import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shown, shownLines } from './shown.ts'

test('what a screen would obey is shown, and all else is as it was', () => {
  assert.equal(shown('\u001b[2J\u0007\t\n\u007f\u0085\u009b'), '\\u001b[2J\\u0007\\u0009\\u000a\\u007f\\u0085\\u009b')
  assert.equal(shown('a\u202eb\u2066c\u200f\u061c\ud800'), 'a\\u202eb\\u2066c\\u200f\\u061c\\ud800')
  for (const text of ['', 'Zoë \\ שלום 漢字 👩‍👩‍👧 a b']) assert.equal(shown(text), text)
  assert.equal(shownLines('a\nb\r'), 'a\nb\\u000d')
})
