import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { compare, parse } from 'semver'
import { afterKey, lastKey, parseVersion, prereleaseBounds, tupleKey, versionKey } from './version-order.ts'

const number = fc.oneof(
  { weight: 5, arbitrary: fc.nat(3) },
  { weight: 2, arbitrary: fc.nat(120) },
  { weight: 1, arbitrary: fc.maxSafeNat() },
  { weight: 1, arbitrary: fc.constant(Number.MAX_SAFE_INTEGER) },
)
const word = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'A',
    'Z',
    'z',
    '-',
    '--',
    'a-',
    '-a',
    '0a',
    'rc',
    'alpha',
    'alphab',
    'alpha-',
    'x1',
    '1-',
    '00a',
  ),
  fc.stringMatching(/^[0-9A-Za-z-]{1,8}$/).filter((text) => !/^[0-9]+$/.test(text)),
)
const identifier = fc.oneof(number.map(String), word)
const version = fc
  .record({
    numbers: fc.tuple(number, number, number),
    prerelease: fc.array(identifier, { maxLength: 4 }),
    build: fc.option(word, { freq: 4 }),
  })
  .map(({ numbers, prerelease, build }) =>
    [
      numbers.join('.'),
      prerelease.length > 0 ? `-${prerelease.join('.')}` : '',
      build === null ? '' : `+${build}`,
    ].join(''),
  )

const keyOf = (text: string): string => {
  const parsed = parseVersion(text)
  assert.ok(parsed !== null, text)
  return versionKey(parsed)
}
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

describe('a version', () => {
  it('has a key whose bytes sort by the precedence of SemVer', () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        assert.equal(byBytes(keyOf(a), keyOf(b)), compare(a, b), `${a} and ${b}`)
      }),
      { numRuns: 20_000 },
    )
  })

  it('sorts so also when two are nearly the same', () => {
    const near = fc.tuple(
      fc.array(identifier, { maxLength: 3 }),
      fc.array(identifier, { maxLength: 2 }),
      fc.array(identifier, { maxLength: 2 }),
    )
    fc.assert(
      fc.property(near, ([common, a, b]) => {
        const [first, second] = [a, b].map((rest) => {
          const all = [...common, ...rest]
          return all.length === 0 ? '1.2.3' : `1.2.3-${all.join('.')}`
        })
        assert.ok(first !== undefined && second !== undefined)
        assert.equal(byBytes(keyOf(first), keyOf(second)), compare(first, second), `${first} and ${second}`)
      }),
      { numRuns: 20_000 },
    )
  })

  it('has a key within the bounds of its three numbers exactly if it is a pre-release', () => {
    fc.assert(
      fc.property(version, (text) => {
        const parsed = parseVersion(text)
        assert.ok(parsed !== null)
        const [from, to] = prereleaseBounds(parsed)
        const key = versionKey(parsed)
        assert.ok(key.startsWith(tupleKey(parsed)))
        assert.equal(from <= key && key < to, parsed.prerelease.length > 0)
        assert.ok(key < afterKey(key) && key < afterKey(lastKey))
      }),
      { numRuns: 5_000 },
    )
  })

  it('is what SemVer 2.0.0 says, and nothing looser', () => {
    const none = ['', '1', '1.2', '1.2.3.4', 'v1.2.3', ' 1.2.3', '1.2.3 ', '=1.2.3', '01.2.3', '1.02.3', '1.2.03']
    const nor = ['1.2.3-', '1.2.3-01', '1.2.3-a..b', '1.2.3+', '1.2.3+a+b', '1.2.3-ä', '1.2.-3', '-1.2.3', '1.2.3\n']
    const tooLarge = [
      '9007199254740992.0.0',
      '0.0.9007199254740992',
      '1.0.0-9007199254740992',
      `1.0.0-${'a'.repeat(251)}`,
    ]
    for (const text of [...none, ...nor, ...tooLarge]) assert.equal(parseVersion(text), null, text)
    const valid = ['0.0.0', '1.2.3-0', '1.2.3--', '1.2.3-0a', '1.2.3-a.0.b', '1.2.3+001', `1.0.0-${'a'.repeat(250)}`]
    for (const text of [...valid, '9007199254740991.0.0'])
      assert.ok(parseVersion(text) !== null && parse(text) !== null, text)
  })
})
