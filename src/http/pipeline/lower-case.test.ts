import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Type from 'typebox'
import { fields, nullable, Uuid } from '../../contract/schemas.ts'
import { lowerCaseIds } from './lower-case.ts'

const upper = '01A2B3C4-0000-7000-8000-00000000ABCD'
const lower = upper.toLowerCase()

describe('ids in lower case', () => {
  it('are made of ids wherever the schema has them, and of nothing else', () => {
    const schema = fields({ id: Uuid, name: Type.String(), all: Type.Array(fields({ one: nullable(Uuid) })) })
    const value = { id: upper, name: upper, all: [{ one: upper }, { one: null }], more: upper }
    assert.deepEqual(lowerCaseIds(schema)?.(value), {
      id: lower,
      name: upper,
      all: [{ one: lower }, { one: null }],
      more: upper,
    })
  })

  it('leave what is not as the schema says to its validator', () => {
    const way = lowerCaseIds(fields({ id: Uuid, all: Type.Array(Uuid) }))
    for (const value of [null, 5, 'text', [], { id: 5, all: 'none' }, { all: [null, {}] }])
      assert.deepEqual(way?.(structuredClone(value)), value)
    assert.deepEqual(
      way?.(JSON.parse(`{"__proto__":{"id":"${upper}"}}`)),
      JSON.parse(`{"__proto__":{"id":"${upper}"}}`),
    )
  })

  it('cost nothing where there are none', () => {
    assert.equal(lowerCaseIds(fields({ name: Type.String() })), null)
  })
})
