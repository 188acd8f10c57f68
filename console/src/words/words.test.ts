import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { holesIn, languages, wordsIn } from '../../build/words.ts'

const folder = import.meta.dirname
const english = wordsIn(folder, 'en')

/** Ids that are put together: a group, and a word of the contract. */
const groupsSaid = new Set(
  sources().flatMap((text) =>
    [...text.matchAll(/\b(?:said\('([a-z.]+)'|t\(`([a-z.]+)\.\$\{)/g)].map(([, group, put]) => group ?? put ?? ''),
  ),
)

function sources(): string[] {
  return globSync('../**/*.{ts,tsx}', { cwd: folder })
    .filter((path) => !/\.test\.ts$|words\/ids\.ts$/.test(path))
    .map((path) => readFileSync(new URL(path, import.meta.url), 'utf8'))
}

describe('the words of the console', () => {
  for (const language of languages)
    it(`are the same in ${language}: ids, holes, and every plural that the language has`, () => {
      const words = wordsIn(folder, language)
      assert.deepEqual(Object.keys(words), Object.keys(english))
      const plurals = new Intl.PluralRules(language).resolvedOptions().pluralCategories
      for (const [id, text] of Object.entries(words)) {
        const holes = holesIn(text)
        assert.deepEqual([...holes.keys()].sort(), [...holesIn(english[id] ?? '').keys()].sort(), id)
        for (const [name, { kind, choices }] of holes)
          if (kind === 'plural')
            assert.deepEqual(
              plurals.filter((each) => !choices.includes(each)),
              [],
              `${id} {${name}}`,
            )
      }
    })

  it('are all used', () => {
    const all = sources().join('\n')
    const unused = Object.keys(english).filter(
      (id) => !all.includes(`'${id}'`) && ![...groupsSaid].some((group) => id.startsWith(`${group}.`)),
    )
    assert.deepEqual(unused, [])
  })
})
