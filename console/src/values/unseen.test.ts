import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { piecesOf, seen } from './unseen.ts'

describe('text that others wrote', () => {
  it('shows what turns it round, what has no width and what controls', () => {
    assert.equal(seen('invoice\u202egnp.exe'), 'invoice[U+202E]gnp.exe')
    assert.equal(seen('a\u200bb\u00adc\u2066d\u200e\ufeff'), 'a[U+200B]b[U+00AD]c[U+2066]d[U+200E][U+FEFF]')
    assert.equal(
      seen(`a\nb\u0007\u2028${String.fromCharCode(0xd800)}\u{e0041}\u3164`),
      'a[U+000A]b[U+0007][U+2028][U+D800][U+E0041][U+3164]',
    )
    assert.deepEqual(piecesOf('a\u202eb'), [
      { text: 'a', isUnseen: false },
      { text: 'U+202E', isUnseen: true },
      { text: 'b', isUnseen: false },
    ])
  })

  it('leaves everything else as it is, emoji of several characters too', () => {
    for (const text of [
      '',
      'app-1.0.tgz',
      'привет мир.txt',
      'naïve cafe\u0301',
      '文件',
      'שלום.txt',
      '❤️ 👩‍💻 👩🏽‍🚀 🏳️‍🌈',
    ])
      assert.deepEqual([seen(text), piecesOf(text)], [text, [{ text, isUnseen: false }]], text)
  })

  it('keeps lines and columns where a text has some', () => {
    assert.deepEqual(piecesOf('a\n\tb\u2066', { lines: true }), [
      { text: 'a\n\tb', isUnseen: false },
      { text: 'U+2066', isUnseen: true },
    ])
  })
})
