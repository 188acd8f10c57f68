import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { satisfies, validRange } from 'semver'
import { Failure } from '../../../kernel/failure.ts'
import { intervalsOf } from './ranges.ts'
import { someRange, someVersion } from './semver.suite.ts'
import { parseVersion, versionKey } from './version-order.ts'

const matches = (version: string, range: string, withPrereleases: boolean): boolean => {
  const parsed = parseVersion(version)
  assert.ok(parsed !== null)
  const key = versionKey(parsed)
  const kind = parsed.prerelease.length > 0 ? 1 : 0
  return intervalsOf(range, withPrereleases).some(
    ({ prerelease, from, to }) => prerelease === kind && from <= key && key < to,
  )
}

describe('a range', () => {
  it('means to us what it means to node-semver', () => {
    fc.assert(
      fc.property(someVersion, someRange, fc.boolean(), (version, range, includePrerelease) => {
        if (validRange(range, { includePrerelease }) === null) return
        assert.equal(
          matches(version, range, includePrerelease),
          satisfies(version, range, { includePrerelease }),
          `${version} in ${range}${includePrerelease ? ' with pre-releases' : ''}`,
        )
      }),
      { numRuns: 30_000 },
    )
  })

  it('becomes intervals that do not touch each other', () => {
    fc.assert(
      fc.property(someRange, fc.boolean(), (range, includePrerelease) => {
        if (validRange(range, { includePrerelease }) === null) return
        const intervals = intervalsOf(range, includePrerelease)
        for (const [index, { prerelease, from, to }] of intervals.entries()) {
          assert.ok(from < to)
          const next = intervals[index + 1]
          if (next !== undefined) assert.ok(next.prerelease > prerelease || next.from > to)
        }
      }),
      { numRuns: 5_000 },
    )
  })

  it('has as many intervals as its length allows, and no more', () => {
    const long = Array.from({ length: 64 }, (_, n) => 10 + n).join('||')
    assert.equal(long.length, 254)
    // Neighbours such as 10.x and 11.x do not touch: 11.0.0-0 belongs to neither.
    assert.equal(intervalsOf(long, false).length, 64)
    assert.equal(intervalsOf('^1.2.0', false).length, 1, 'there is nothing below 2.0.0-0')
    assert.ok(intervalsOf('||'.repeat(128), true).length === 2)
  })

  const golden: readonly [version: string, range: string, matches: boolean, withPrereleases?: boolean][] = [
    ['1.2.3', '^1.2.0', true],
    ['2.0.0-alpha', '^1.2.0', false],
    ['1.3.0-beta', '^1.2.0', false],
    ['1.2.3-beta.4', '^1.2.3-beta.2', true],
    ['1.2.4-beta.2', '^1.2.3-beta.2', false],
    ['0.3.0', '^0.2.3', false],
    ['0.0.4', '^0.0.3', false],
    ['0.0.9', '^0.0', true],
    ['2.0.0-0', '1.x', false],
    ['2.3.9', '1.2.3 - 2.3', true],
    ['2.4.0-0', '1.2.3 - 2.3', false],
    ['1.0.0-rc.1', '*', false],
    ['1.0.0-rc.1', '*', true, true],
    ['2.0.0-rc.1', '^1.0.0', false, true],
    ['1.0.0-rc.1', '^1.0.0', false, true],
    ['1.5.0', '>1', false],
    ['1.9.0', '<=1', true],
    ['1.2.3+build', '1.2.3', true],
    ['1.2.3', 'v1.2.3', true],
    ['3.4.5-alpha.9', '>1.2.3-alpha.3', false],
    ['1.2.3-0', '<1.2.3', false],
    ['1.2.3', '>=1.2.7 || 1.2.3', true],
    ['1.2.3', '^1.2.3 ^1.4', false],
    ['1.2.3', '', true],
    ['1.2.3', '<x', false],
    ['1.2.3', '^2.0.0 ||', true],
  ]
  for (const [version, range, expected, withPrereleases = false] of golden)
    it(`${range === '' ? 'of nothing' : range} ${expected ? 'has' : 'has not'} ${version}${withPrereleases ? ' among pre-releases' : ''}`, () => {
      assert.equal(matches(version, range, withPrereleases), expected)
    })

  for (const range of [
    'latest',
    'foo',
    '^1.0.0 foo',
    '>01.0.0',
    '1.2.3.4',
    '^9007199254740991.0.0',
    '>=9007199254740992.0.0',
    '||x||y',
  ])
    it(`is not ${range}`, () => {
      assert.throws(
        () => intervalsOf(range, false),
        (error) =>
          error instanceof Failure && error.code === 'invalid_request' && error.details[0]?.pointer === '/query/range',
      )
    })
})
