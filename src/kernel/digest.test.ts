import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isSha256, toSha256 } from './digest.ts'

const digits = '0123456789abcdef'
const anyDigest = fc.string({ unit: fc.constantFrom(...digits), minLength: 64, maxLength: 64 })

describe('a SHA-256 digest', () => {
  it('is what hashing gives', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = createHash('sha256').update(bytes).digest('hex')
        assert.equal(isSha256(text), true)
        assert.equal(toSha256(text), text)
      }),
    )
  })

  it('is nothing but 64 digits', () => {
    fc.assert(
      fc.property(
        anyDigest,
        fc.nat(64),
        fc.string({ unit: 'binary', maxLength: 3 }),
        fc.nat(3),
        (text, at, put, cut) => {
          const edited = text.slice(0, at) + put + text.slice(at + cut)
          const expected = edited.length === 64 && [...edited].every((character) => digits.includes(character))
          assert.equal(isSha256(edited), expected)
        },
      ),
    )
  })

  const plain = 'a'.repeat(64)
  const wrong: Readonly<Record<string, string>> = {
    nothing: '',
    'one digit less': plain.slice(1),
    'one digit more': `${plain}a`,
    'an upper-case digit': plain.replace('a', 'A'),
    'a line end': `${plain}\n`,
    'a second line': `${plain}\n${plain}`,
    'a space before': ` ${plain}`,
    'a prefix': `sha256:${plain}`,
    'a path': `../${plain.slice(3)}`,
    'a zero byte': `${plain.slice(1)}\0`,
    'digits of another script': '١'.repeat(64),
    'digits that look alike': 'ａ'.repeat(64),
  }
  for (const [name, text] of Object.entries(wrong)) {
    it(`is not ${name}`, () => {
      assert.equal(isSha256(text), false)
      assert.throws(() => toSha256(text), RangeError)
    })
  }

  it('says what was wrong in one short line', () => {
    assert.throws(
      () => toSha256(`\n${'x'.repeat(1_000_000)}`),
      (error: Error) => error.message.length < 150 && !error.message.includes('\n') && /\\nxxx/.test(error.message),
    )
  })
})
