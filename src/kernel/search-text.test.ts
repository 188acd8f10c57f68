import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { foldCase } from './fold-case.ts'
import {
  matchesExactly,
  noFilters,
  pathsText,
  type Searchable,
  searchText,
  tokensOf,
  tokensOfFilters,
  tokensOfPathPart,
  whereTokensOf,
} from './search-text.ts'

/** Letters that case does odd things to, marks that combine, signs that SQL minds, and parts of long needles. */
const awkward = 'aAbB sSßẞﬁfFiIİıΣσςéÉe\u0301\u0345ᾳΑΙǅǆµμK%_\\\'"*🎉𐐀𐐨'
const text = fc
  .array(fc.oneof(fc.constantFrom(...awkward), fc.constantFrom('ss', 'ab')), { maxLength: 20 })
  .map((parts) => parts.join(''))

describe('folding case', () => {
  it('changes nothing the second time, and takes every variant of every character to the same', () => {
    for (let point = 0; point <= 0x10ffff; point++) {
      if (point >= 0xd800 && point <= 0xdfff) continue
      const character = String.fromCodePoint(point)
      const folded = foldCase(character)
      for (const variant of [folded, character.toUpperCase(), character.toLowerCase()])
        if (foldCase(variant) !== folded) assert.fail(`U+${point.toString(16)}`)
      if (point > 0x9f && /\p{Cc}/u.test(folded)) assert.fail(`U+${point.toString(16)} folds to a control character`)
    }
  })

  it('goes character by character, so that parts stay parts', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        assert.equal(foldCase(a + b), foldCase(a) + foldCase(b))
        assert.equal(foldCase(foldCase(a)), foldCase(a))
      }),
    )
  })

  it('knows sharp s, dotless i and both sigmas, and leaves accents and their composition alone', () => {
    for (const [a, b] of [
      ['STRASSE', 'straße'],
      ['ẞ', 'ß'],
      ['KILIM', 'kılım'],
      ['ΟΔΟΣ', 'οδος'],
      ['ΟΔΟΣ', 'οδοσ'],
      ['ﬁ', 'FI'],
    ] as const)
      assert.equal(foldCase(a), foldCase(b))
    assert.equal(foldCase('İ'), 'i\u0307')
    assert.notEqual(foldCase('é'), foldCase('e'))
    assert.notEqual(foldCase('\u00e9'), foldCase('e\u0301'))
  })
})

describe('tokens', () => {
  const file = fc.record({
    repository: fc.constantFrom('one', 'two'),
    name: text,
    labels: fc.array(text, { maxLength: 3 }),
    metadata: fc.dictionary(fc.constantFrom('a', 'b', 'constructor'), text),
    collections: fc.array(fc.constantFrom('x', 'y:z'), { maxLength: 2 }),
  })

  it('of filters are among those of every file that matches, however long the needle', () => {
    fc.assert(
      fc.property(file, fc.nat(), fc.nat(), (found: Searchable, from, length) => {
        const lines = [found.name, ...Object.values(found.metadata)]
        const line = Array.from(lines[from % lines.length] ?? '')
        const start = line.length === 0 ? 0 : from % line.length
        const key = Object.keys(found.metadata)[0]
        const filters = {
          q: line
            .slice(start, start + 1 + (length % 20))
            .join('')
            .toUpperCase(),
          label: found.labels[0],
          collection: found.collections[0],
          metadata: key === undefined ? undefined : { key, value: found.metadata[key] ?? '' },
          sha256: 'x',
          path: undefined,
        }
        const paths = pathsText(lines)
        const tokens = tokensOf(found, searchText(found)).union(whereTokensOf({ sha256: 'x', paths }))
        for (const token of tokensOfPathPart(filters.q)) assert.ok(tokens.has(token))
        for (const token of tokensOfFilters(found.repository, filters)) assert.ok(tokens.has(token))
        assert.ok(matchesExactly({ ...found, sha256: 'x' }, filters))
      }),
    )
  })

  it('are whole numbers of 32 bits that fit both engines, and differ by kind', () => {
    const seen: Searchable = { repository: 'a', name: 'a', labels: ['a'], metadata: { a: 'a' }, collections: ['a'] }
    const tokens = tokensOf(seen, searchText(seen))
    assert.equal(tokens.size, 5)
    assert.equal(tokens.union(whereTokensOf({ sha256: 'a', paths: 'a' })).size, 7)
    assert.equal(tokens.union(whereTokensOf({ sha256: 'a', paths: null })).size, 7)
    assert.equal(pathsText(Array.from({ length: 33 }, () => 'a')), null)
    for (const token of tokens) assert.equal(token, token | 0)
    assert.ok(tokensOfFilters('a', { ...noFilters, q: 'x'.repeat(1024) + 'y'.repeat(1024) }).size <= 13)
  })

  it('do not join the end of one text to the beginning of the next', () => {
    const parts: Searchable = { repository: 'r', name: 'abc', labels: [], metadata: { k: 'def' }, collections: [] }
    const tokens = tokensOf(parts, searchText(parts))
    for (const token of tokensOfFilters('r', { ...noFilters, q: 'cd' })) if (!tokens.has(token)) return
    assert.fail('a needle across two texts was not told apart')
  })
})
