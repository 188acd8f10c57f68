import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
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
  })

  test('may stand in prose, in texts, in columns and within other words', () => {
    assert.deepEqual(
      forbiddenNames(
        "// whose turn it is\n/* the doer */ const a = 'turn', b = row.turn_holder, c = `turn`; return saturn",
      ),
      [],
    )
  })

  test('are not used by us', () => {
    const files = execFileSync('git', ['ls-files', 'src', 'test', 'bench'], { encoding: 'utf8' })
      .split('\n')
      .filter((path) => path.endsWith('.ts'))
    const found = files.flatMap((path) => [
      ...forbiddenNames(readFileSync(path, 'utf8')).map((each) => `${path}:${each}`),
      ...forbiddenNames(basename(path, '.ts').replaceAll(/[-.]/g, ' ')).map((each) => `${path} ${each}`),
    ])
    assert.deepEqual(found, [])
  })
})
