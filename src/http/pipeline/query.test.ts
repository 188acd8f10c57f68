import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Type from 'typebox'
import { Failure } from '../../kernel/failure.ts'
import { decodeQuery } from './query.ts'

const schema = Type.Object({ limit: Type.Optional(Type.Integer()), path: Type.Optional(Type.String()) })
const decode = (text: string) => ({ ...decodeQuery(text, schema) })

const refuses = (text: string, pointer: string): void =>
  assert.throws(
    () => decodeQuery(text, schema),
    (error: unknown) => {
      assert.ok(error instanceof Failure)
      assert.equal(error.status, 400)
      assert.deepEqual(
        error.details.map((detail) => detail.pointer),
        [pointer],
      )
      return true
    },
    text,
  )

describe('decodeQuery', () => {
  it('decodes names and values, and makes whole numbers of declared ones only', () => {
    assert.deepEqual(decode(''), {})
    assert.deepEqual(decode('limit=5&path=5'), { limit: 5, path: '5' })
    assert.deepEqual(decode('%6Cimit=0'), { limit: 0 })
    assert.deepEqual(decode('path=a%2Fb+c%2B%F0%9F%94%91'), { path: 'a/b c+🔑' })
    assert.deepEqual(decode('path=a=b'), { path: 'a=b' })
    assert.deepEqual(decode('path'), { path: '' })
  })

  it('leaves what is no whole number for the schema to refuse', () => {
    for (const text of ['', '-1', '+1', '1.0', '1e3', '0x10', '01', '１', ' 1', '99999999999999999', 'NaN', 'Infinity'])
      assert.deepEqual(decode(`limit=${encodeURIComponent(text)}`), { limit: text })
  })

  it('refuses what is given twice, also in another spelling', () => {
    refuses('path=a&path=b', '/query/path')
    refuses('path=a&pat%68=a', '/query/path')
    refuses('surprise=1&surprise=1', '/query/surprise')
    refuses(Array.from({ length: 60 }, () => 'limit=1').join('&'), '/query/limit')
  })

  it('looks at every parameter, and refuses more than it would look at, empty ones too', () => {
    refuses(`${'&'.repeat(50)}path=a&path=b`, '/query/path')
    for (const text of ['&'.repeat(64), `${'&'.repeat(64)}surprise=1`, `${'a=1&'.repeat(64)}path=b`])
      refuses(text, '/query')
    assert.deepEqual(decode('&&path=a&&'), { path: 'a' })
  })

  it('refuses what is no percent-encoded UTF-8', () => {
    for (const text of ['path=%', 'path=%F', 'path=%FF', 'path=%ED%A0%80', '%C3=a', 'path=%zz']) refuses(text, '/query')
  })

  it('hides no name from the schema, not even those of prototypes', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      assert.deepEqual(Object.keys(decodeQuery(`${name}=1`, schema)), [name])
  })
})
