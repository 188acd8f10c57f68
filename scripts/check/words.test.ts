import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { forbiddenNames, forbiddenWords, namesAwayFromHome } from './words.ts'

describe('words', () => {
  test('that mean nothing, or several things, are found in names', () => {
    const named = [
      'const turn = 1',
      'turn2',
      'utf8Growths',
      'takeTurns()',
      'x.doer',
      'class Growth {}',
      'circlesOf(a)',
      'keepers',
      'openBackstage()',
    ]
    for (const line of named) assert.equal(forbiddenNames(`\n${line}\n`).length, 1, line)
    for (const { word } of forbiddenWords)
      assert.ok(
        named.some((line) => /[a-zA-Z]+/g[Symbol.matchAll](line).some(([name]) => forbiddenNames(name).length > 0)),
        String(word),
      )
    assert.deepEqual(forbiddenNames('interface UploadParts {}'), ['1 UploadParts: UploadDeps'])
    assert.deepEqual(forbiddenNames('backstage harness'), ['1 backstage: inspection'])
  })

  test('may stand in prose, in texts, in columns and within other words', () => {
    assert.deepEqual(
      forbiddenNames(
        "// whose turn it is\n/* the doer */ const a = 'turn', b = row.turn_holder, c = `turn`; return saturn",
      ),
      [],
    )
  })

  test('with a home are found away from it', () => {
    const text = "// a place\nconst seat = 'place'\nconst freePlaces = takePlace(replaced)"
    assert.deepEqual(
      namesAwayFromHome('src/http/body/upload-line.ts', text).map((found) => found.split(':')[0]),
      ['3 freePlaces', '3 takePlace'],
    )
    for (const path of ['src/ports/blob-store.ts', 'src/content/assembly/staging.ts'])
      assert.deepEqual(namesAwayFromHome(path, text), [])
  })
})
