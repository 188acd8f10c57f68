import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Type, { type TSchema } from 'typebox'
import { fields, nullable, oneOf, text, Uuid } from '../../contract/schemas.ts'
import { Failure, type FailureDetail } from '../../kernel/failure.ts'
import { problemDetailsMax } from '../../kernel/limits/http.ts'
import { compileValidator, type Section } from './validation.ts'

const faults = (schema: TSchema, value: unknown, section: Section = 'body'): readonly FailureDetail[] => {
  try {
    compileValidator(schema, section)(value)
    return []
  } catch (error) {
    assert.ok(error instanceof Failure)
    assert.equal(error.code, 'invalid_request')
    return error.details
  }
}

const Thing = fields({
  name: text(1, 3),
  count: Type.Optional(Type.Integer({ minimum: 0, maximum: 5 })),
  kind: Type.Optional(oneOf(['a', 'b'] as const)),
  tags: Type.Optional(Type.Array(fields({ 'a/b~c': Type.String() }))),
  note: Type.Optional(nullable(Type.String({ maxLength: 2 }))),
})

describe('compileValidator', () => {
  it('lets valid values pass as they are', () => {
    const value = { name: '🔑🔑🔑', count: 5, kind: 'b', tags: [{ 'a/b~c': '' }], note: null }
    const before = structuredClone(value)
    assert.deepEqual(faults(Thing, value), [])
    assert.deepEqual(value, before)
  })

  it('points at each invalid field and says what is wanted', () => {
    const bad = { name: '', count: '5', kind: 'c', tags: [{ 'a/b~c': 1 }, {}], note: 'long', more: 1 }
    const found = new Map(faults(Thing, bad).map(({ pointer, message }) => [pointer, message]))
    assert.deepEqual([...found.keys()].sort(), [
      '/count',
      '/kind',
      '/more',
      '/name',
      '/note',
      '/tags/0/a~1b~0c',
      '/tags/1/a~1b~0c',
    ])
    assert.equal(found.get('/more'), 'is not known here; known are name, count, kind, tags, note')
    assert.equal(found.get('/tags/1/a~1b~0c'), 'is required')
    assert.equal(found.get('/kind'), 'must be one of ["a","b"]')
  })

  it('coerces nothing', () => {
    for (const count of ['1', true, null, 1.5, [1], Number.NaN])
      assert.equal(faults(Thing, { name: 'a', count }).length, 1)
    for (const value of [null, [], 'text', 7, undefined]) assert.equal(faults(Thing, value)[0]?.pointer, '')
  })

  it('says in words what a pattern wants', () => {
    const [detail] = faults(fields({ id: Uuid }), { id: 'x' }, 'path')
    assert.deepEqual(detail, { pointer: '/path/id', message: 'must be a UUID' })
  })

  it('names where the value came from', () => {
    for (const section of ['query', 'path', 'headers'] as const)
      assert.equal(faults(Thing, { name: 'a', more: 1 }, section)[0]?.pointer, `/${section}/more`)
  })

  it('names so many fields and no more', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, 1]))
    assert.equal(faults(Thing, many).length, problemDetailsMax)
  })

  it('repeats no value that was sent', () => {
    const secret = 'hush-hush'
    for (const value of [{ name: secret }, { name: 'a', kind: secret }, { name: 'a', count: secret }])
      assert.ok(!JSON.stringify(faults(Thing, value)).includes(secret))
  })
})
