import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { caseless, isRepositoryId, lastCharacters, pathFault, patterns, prefixEnd } from './names.ts'

const compareBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))

/** Any well-formed text, often with the characters at the edges of UTF-8's lengths. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u007f', '\u07ff', '\ud7ff', '\ue000', '\uffff', '\u{10ffff}'),
    ),
  )
  .map((parts) => parts.join(''))

describe('pathFault', () => {
  it('finds nothing wrong with paths', () => {
    for (const path of [
      'a',
      'a/b/c.txt',
      '.hidden',
      '...',
      'a b',
      'ä/ö',
      '🔑',
      'a..b',
      '-',
      '%2e%2e',
      'x'.repeat(1024),
      '🔑'.repeat(1024),
    ])
      assert.equal(pathFault(path), null, path)
  })

  it('names what is wrong', () => {
    for (const [path, fault] of [
      ['', /empty/],
      ['x'.repeat(1025), /1024 characters/],
      ['🔑'.repeat(1025), /1024 characters/],
      ['/a', /empty segment/],
      ['a/', /empty segment/],
      ['a//b', /empty segment/],
      ['/', /empty segment/],
      ['.', /segment "\."/],
      ['..', /segment "\.\."/],
      ['a/../b', /segment "\.\."/],
      ['a/.', /segment "\."/],
      ['a\\b', /backslash/],
      ['C:/a', /colon/],
      ['a\u0000b', /control/],
      ['a\nb', /control/],
      ['a\u007f', /control/],
      ['a\u0085', /control/],
      ['a\ud800', /surrogate/],
      ['\udc00a', /surrogate/],
    ] as const)
      assert.match(String(pathFault(path)), fault, JSON.stringify(path))
  })

  it('lets nothing out of its folder, whatever it is made of', () => {
    const pieces = fc.array(fc.constantFrom('.', '..', '/', '\\', 'a', ':', '\u0000', ' ', '~', '%2e'), {
      maxLength: 8,
    })
    fc.assert(
      fc.property(pieces, (parts) => {
        const path = parts.join('')
        if (pathFault(path) !== null) return
        const { pathname } = new URL(`http://host/base/${path.replaceAll('%', '%25').replaceAll(' ', '%20')}`)
        assert.ok(pathname.startsWith('/base/'), path)
        assert.ok(path.split('/').every((segment) => !['', '.', '..'].includes(segment)))
      }),
    )
  })
})

describe('prefixEnd', () => {
  it('is above every text with the prefix, in byte order', () => {
    fc.assert(
      fc.property(text, text, (prefix, rest) => {
        const end = prefixEnd(prefix)
        assert.ok(end === null || compareBytes(prefix + rest, end) < 0)
      }),
    )
  })

  it('is not above any text that is behind all those with the prefix', () => {
    fc.assert(
      fc.property(text, text, (prefix, other) => {
        const end = prefixEnd(prefix)
        if (other.startsWith(prefix) || compareBytes(other, prefix) < 0) return
        assert.ok(end !== null && compareBytes(other, end) >= 0)
      }),
    )
  })

  it('skips the surrogates and has no end where nothing can grow', () => {
    assert.equal(prefixEnd('a'), 'b')
    assert.equal(prefixEnd('a\ud7ff'), 'a\ue000')
    assert.equal(prefixEnd('a\u{10ffff}'), 'b')
    assert.equal(prefixEnd(''), null)
    assert.equal(prefixEnd('\u{10ffff}\u{10ffff}'), null)
  })
})

describe('names', () => {
  it('of repositories follow the grammar of the specification', () => {
    for (const id of ['a', '0', 'a-b_c', 'x'.repeat(64)]) assert.ok(isRepositoryId(id), id)
    for (const id of ['', '-a', '_a', 'A', 'a.b', 'x'.repeat(65), 'a\n', 'a\u0000', 'ä', '..'])
      assert.ok(!isRepositoryId(id), id)
  })

  it('that differ in case, or in how an accent is composed, are one', () => {
    assert.equal(caseless('A.b-C_9'), 'a.b-c_9')
    for (const [one, other] of [
      ['ΟΔΟΣ', 'οδος'],
      ['οδος', 'οδοσ'],
      ['straße', 'STRASSE'],
      ['\u212a', 'k'],
      ['İ', 'i\u0307'],
      ['Ä', 'a\u0308'],
    ] as const)
      assert.equal(caseless(one), caseless(other), `${one} ${other}`)
    for (const [one, other] of [
      ['a', 'ä'],
      ['o', '0'],
    ] as const)
      assert.notEqual(caseless(one), caseless(other))
  })

  it('are told apart by that one fold: no feature folds case by itself', async () => {
    const features = new URL('../features/', import.meta.url)
    const folding: string[] = []
    for (const path of await readdir(features, { recursive: true }))
      if (path.endsWith('.ts') && !path.includes('.test.')) {
        const source = await readFile(new URL(path, features), 'utf8')
        if (/\.to(?:Locale)?(?:Lower|Upper)Case\(/.test(source)) folding.push(path)
      }
    // Digests in hexadecimal, ids, and keys of versions, which are ASCII: the database folds them with `lower`.
    assert.deepEqual(folding.sort(), [
      'catalog/packages/packages.queries.ts',
      'identity/access/subjects.ts',
      'operating/backups/find-file.ts',
      'transfers/raw/handlers.ts',
    ])
  })

  it('have patterns that mean the whole text, also when it ends in a line break', () => {
    for (const [name, pattern] of Object.entries(patterns)) {
      const expression = new RegExp(pattern, 'u')
      assert.ok(pattern.startsWith('^') && pattern.endsWith('$'), name)
      assert.ok(!expression.test('a\n') && !expression.test('0\n'), name)
    }
  })

  it('count bytes that stay exact as numbers', () => {
    const byteCount = new RegExp(patterns.byteCount, 'u')
    for (const count of ['0', '1', '9999999999999999'.slice(0, 15)]) assert.ok(byteCount.test(count))
    for (const count of ['', '00', '01', '-1', '+1', '1.0', '1e3', ' 1', '１', '99999999999999999'])
      assert.ok(!byteCount.test(count), count)
  })
})

describe('lastCharacters', () => {
  it('keeps the end, and whole characters', () => {
    assert.equal(lastCharacters('abc', 3), 'abc')
    assert.equal(lastCharacters('abcd', 3), 'bcd')
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 20 }), (whole, count) => {
        const end = lastCharacters(whole, count)
        assert.ok(whole.endsWith(end))
        assert.ok(end.isWellFormed())
        assert.ok(Array.from(end).length <= Math.max(count, 0))
      }),
    )
  })
})
