import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { resolveRange } from './range.ts'

const resolved = (header: string | undefined, size: number): string => {
  const range = resolveRange(header, size)
  return typeof range === 'string' ? range : `${range.start}-${range.end}`
}

/** Sizes up to the largest object, small ones mostly. */
const anySize = fc.oneof(fc.nat(20), fc.nat(10_737_418_240_000))
const anyPosition = fc.oneof(fc.nat(25), fc.nat(999_999_999_999_999))

describe('resolveRange', () => {
  const cases: readonly (readonly [header: string | undefined, size: number, expected: string])[] = [
    [undefined, 10, 'whole'],
    ['bytes=0-9', 10, '0-10'],
    ['bytes=0-0', 10, '0-1'],
    ['bytes=9-9', 10, '9-10'],
    ['bytes=3-', 10, '3-10'],
    ['bytes=3-99', 10, '3-10'],
    ['bytes=-3', 10, '7-10'],
    ['bytes=-10', 10, '0-10'],
    ['bytes=-11', 10, '0-10'],
    ['bytes=007-008', 10, '7-9'],
    // The unit is case-insensitive (RFC 9110, section 14.1), and white space around a field is not part of it.
    ['BYTES=1-2', 10, '1-3'],
    [' bytes=1-2\t', 10, '1-3'],
    // Unsatisfiable: nothing of it lies in the body.
    ['bytes=10-', 10, 'unsatisfiable'],
    ['bytes=10-20', 10, 'unsatisfiable'],
    ['bytes=-0', 10, 'unsatisfiable'],
    ['bytes=0-', 0, 'unsatisfiable'],
    ['bytes=0-0', 0, 'unsatisfiable'],
    ['bytes=-5', 0, 'unsatisfiable'],
    // Its end lies before its start: no range at all, wherever it is.
    ['bytes=5-1', 10, 'whole'],
    ['bytes=20-15', 10, 'whole'],
    ['bytes=99999999999999999999-99999999999999999998', 10, 'whole'],
    ['bytes=99999999999999999999-0100000000000000000000', 10, 'unsatisfiable'],
    // Not a single bytes range: ignored.
    ['', 10, 'whole'],
    ['bytes', 10, 'whole'],
    ['bytes=', 10, 'whole'],
    ['bytes=-', 10, 'whole'],
    ['bytes=a-b', 10, 'whole'],
    ['bytes=1-2,4-5', 10, 'whole'],
    ['bytes=1-2,', 10, 'whole'],
    ['items=0-5', 10, 'whole'],
    ['bytes=0-5 x', 10, 'whole'],
    ['bytes = 0-5', 10, 'whole'],
    ['bytes=--5', 10, 'whole'],
    ['bytes=-5-', 10, 'whole'],
    ['bytes=+1-2', 10, 'whole'],
    ['bytes=1.0-2', 10, 'whole'],
    ['bytes=0x1-2', 10, 'whole'],
    ['bytes=1e1-20', 10, 'whole'],
    ['bytes=1-2\nbytes=3-4', 10, 'whole'],
    ['bytes=١-٢', 10, 'whole'],
    // Java clients name the largest long as the end of an open range, others still more.
    ['bytes=3-9223372036854775807', 10, '3-10'],
    ['bytes=9223372036854775807-', 10, 'unsatisfiable'],
    ['bytes=-9223372036854775807', 10, '0-10'],
    ['bytes=0-99999999999999999999', 10, '0-10'],
    ['bytes=99999999999999999999-', 10, 'unsatisfiable'],
    ['bytes=-99999999999999999999', 10, '0-10'],
  ]
  for (const [header, size, expected] of cases) {
    it(`takes ${JSON.stringify(header)} of ${size} bytes as ${expected}`, () => {
      assert.equal(resolved(header, size), expected)
    })
  }

  it('gives exactly the bytes of the body whose positions the range names', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.nat(25), fc.nat(25), (size, first, last) => {
        const positions = Array.from({ length: size }, (_, n) => n)
        const named = positions.filter((n) => n >= first && n <= last)
        const inside = named.length === 0 ? 'unsatisfiable' : `${first}-${first + named.length}`
        const expected = last < first ? 'whole' : inside
        assert.equal(resolved(`bytes=${first}-${last}`, size), expected)
      }),
    )
  })

  it('answers inside the body, or not at all, at any size', () => {
    const header = fc.oneof(
      fc.tuple(anyPosition, anyPosition).map(([one, other]) => `bytes=${Math.min(one, other)}-${Math.max(one, other)}`),
      anyPosition.map((first) => `bytes=${first}-`),
      anyPosition.map((length) => `bytes=-${length}`),
    )
    fc.assert(
      fc.property(header, anySize, (text, size) => {
        const range = resolveRange(text, size)
        if (range === 'unsatisfiable') return
        assert.ok(range !== 'whole', 'a well-formed range is honoured')
        assert.ok(range.start >= 0 && range.start < range.end && range.end <= size)
      }),
    )
  })

  it('takes a suffix as the last bytes', () => {
    fc.assert(
      fc.property(anySize, anyPosition, (size, length) => {
        const kept = Math.min(size, length)
        const expected = kept === 0 ? 'unsatisfiable' : `${size - kept}-${size}`
        assert.equal(resolved(`bytes=-${length}`, size), expected)
      }),
    )
  })

  it('survives any header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), anySize, (text, size) => {
        assert.equal(resolveRange(`bytes=x${text}`, size), 'whole')
        resolveRange(text, size)
      }),
    )
  })
})
