import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { shellWord } from './shell.ts'

const hostile = [
  '',
  ' ',
  "'",
  "''",
  'x\'; echo "$HOME" >&2; exit 1; echo \'',
  '$(exit 1)',
  '`exit 1`',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell would fill it in
  '${HOME}',
  '"$HOME"',
  '\\',
  "\\'",
  'two\nlines\n',
  'a\tb',
  '~',
  '*',
  '?[a-z]{1,2}',
  '#no comment',
  '!!',
  'a=b',
  'a&b|c;d<e>f(g)',
  'привет',
  "it's (a) folder/",
  'https://host:1/api/v1/repositories/releases/raw/a%20b.txt',
]

describe('a word of a shell', () => {
  it('is the same text to sh, wherever it stands and whatever it is', () => {
    const words = hostile.map(shellWord)
    const told = execFileSync('sh', ['-euc', `printf '%s\\0' ${words.join(' ')}`], { encoding: 'utf8' })
    assert.deepEqual(told.split('\0').slice(0, -1), hostile)
    for (const [at, word] of words.entries())
      assert.equal(
        execFileSync('sh', ['-euc', `set -- ${word}x; printf %s "$#$1"`], { encoding: 'utf8' }),
        `1${hostile[at]}x`,
      )
  })

  it('is no word before a command either', () => {
    assert.equal(shellWord('PATH=/tmp'), "'PATH=/tmp'")
    assert.equal(shellWord('host:8080/releases/hello:1.0'), 'host:8080/releases/hello:1.0')
  })
})
