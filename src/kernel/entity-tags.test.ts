import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseEntityTags } from './entity-tags.ts'

const strong = (opaque: string) => ({ weak: false, opaque })
const weak = (opaque: string) => ({ weak: true, opaque })

describe('parseEntityTags', () => {
  it('reads * and lists of tags, in which elements may be empty', () => {
    assert.equal(parseEntityTags('*'), '*')
    assert.equal(parseEntityTags(' *\t'), '*')
    assert.deepEqual(parseEntityTags('"a"'), [strong('"a"')])
    assert.deepEqual(parseEntityTags('""'), [strong('""')])
    assert.deepEqual(parseEntityTags('"a,b" , W/"c",,\t"\xff", '), [strong('"a,b"'), weak('"c"'), strong('"\xff"')])
    assert.deepEqual(parseEntityTags(', ,"*"'), [strong('"*"')])
  })

  it('picks nothing out of what is anything else', () => {
    for (const wrong of [
      '',
      ' ',
      ',',
      'a',
      '"a',
      'a"',
      '"a"b"',
      '"a" "b"',
      '"a", b',
      'b, "a"',
      '"a", *',
      '*, "a"',
      '**',
      'w/"a"',
      'W/ "a"',
      'W/a',
      'W/*',
      '"a b"',
      '"a\tb"',
      '"\x7f"',
      "'a'",
      '"a";q=1',
    ])
      assert.equal(parseEntityTags(wrong), null, wrong)
  })

  it('takes time as long as the text is', () => {
    const long = `${'"a" ,'.repeat(20_000)}${' '.repeat(20_000)}x`
    assert.equal(parseEntityTags(long), null)
    assert.equal(parseEntityTags(`"${'a'.repeat(100_000)}`), null)
  })
})
