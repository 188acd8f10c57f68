import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { forbiddenNames, forbiddenWords } from './words.ts'

describe('words', () => {
  test('that mean nothing, or several things, are found in names', () => {
    const named = [
      'const turn = 1',
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
})
