import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Type, { type TSchema } from 'typebox'
import { answers, defineOperation, jsonBody } from './define.ts'
import { failureCodes, openApiDocument, toOpenApiSchema } from './openapi.ts'
import { fields, inRepository, nullable, oneOf } from './schemas.ts'

const rewritten = (schema: TSchema): unknown => toOpenApiSchema(JSON.parse(JSON.stringify(schema)))

describe('toOpenApiSchema', () => {
  it('says nullable, for there is no type null', () => {
    assert.deepEqual(rewritten(nullable(Type.String({ maxLength: 3 }))), {
      type: 'string',
      maxLength: 3,
      nullable: true,
    })
    assert.deepEqual(rewritten(nullable(fields({ a: nullable(Type.Integer()) }))), {
      type: 'object',
      required: ['a'],
      additionalProperties: false,
      properties: { a: { type: 'integer', nullable: true } },
      nullable: true,
    })
  })

  it('keeps unions of real types, nullable or not', () => {
    const either = Type.Union([Type.String(), Type.Integer()])
    assert.deepEqual(rewritten(either), { anyOf: [{ type: 'string' }, { type: 'integer' }] })
    assert.deepEqual(rewritten(Type.Union([Type.String(), Type.Integer(), Type.Null()])), {
      anyOf: [{ type: 'string' }, { type: 'integer' }],
      nullable: true,
    })
  })

  it('says enum, for there is no const', () => {
    assert.deepEqual(rewritten(Type.Literal('a')), { type: 'string', enum: ['a'] })
    assert.deepEqual(rewritten(oneOf(['a', 'b'] as const)), { type: 'string', enum: ['a', 'b'] })
  })

  it('says additionalProperties, for there are no patternProperties', () => {
    assert.deepEqual(rewritten(Type.Record(Type.String(), nullable(Type.Boolean()))), {
      type: 'object',
      additionalProperties: { type: 'boolean', nullable: true },
    })
    const strict = Type.Record(Type.String({ pattern: '^[a-z]+$' }), Type.Integer(), { additionalProperties: false })
    assert.deepEqual(rewritten(strict), { type: 'object', additionalProperties: { type: 'integer' } })
  })

  it('does not take a field for a word of the language', () => {
    const names = fields({
      const: Type.String(),
      anyOf: Type.String(),
      patternProperties: Type.String(),
      type: Type.String(),
    })
    const { properties } = rewritten(names) as { properties: object }
    assert.deepEqual(Object.keys(properties), ['const', 'anyOf', 'patternProperties', 'type'])
    for (const each of Object.values(properties)) assert.deepEqual(each, { type: 'string' })
  })
})

const touch = defineOperation({
  id: 'touchThing',
  method: 'PUT',
  path: '/things/{repository}/{rest*}',
  summary: 'Touch',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['asset.write', 'asset.read'] },
  retry: 'idempotent',
  conditions: ['resource-state'],
  pathParameters: fields({ ...inRepository.properties, rest: Type.String() }),
  query: fields({ q: Type.Optional(Type.String()), must: Type.String() }),
  headers: fields({ 'x-h': Type.Optional(Type.String()) }),
  body: jsonBody(fields({ a: Type.Integer() })),
  responses: { 200: answers('Touched', fields({ b: nullable(Type.String()) }), { ETag: 'the tag' }) },
  failures: ['revision_mismatch'],
})

const look = defineOperation({
  id: 'lookAround',
  method: 'GET',
  path: '/things/{repository}/{rest*}',
  summary: 'Look',
  surface: 'catalog',
  visibility: 'public',
  access: { kind: 'anyone', reason: 'a test' },
  retry: 'read',
  pathParameters: fields({ repository: Type.String(), rest: Type.String() }),
  responses: { 200: { description: 'Bytes', schema: null, mediaType: 'application/octet-stream' } },
})

describe('openApiDocument', () => {
  it('describes an operation with its parameters, body, answers, failures and rules', () => {
    const { paths } = JSON.parse(JSON.stringify(openApiDocument([touch, look], '1.2.3')))
    assert.deepEqual(Object.keys(paths), ['/things/{repository}/{rest}'])
    const { put, get } = paths['/things/{repository}/{rest}']
    assert.deepEqual(
      put.parameters.map((each: { in: string; name: string; required: boolean }) => [
        each.in,
        each.name,
        each.required,
      ]),
      [
        ['path', 'repository', true],
        ['path', 'rest', true],
        ['query', 'q', false],
        ['query', 'must', true],
        ['header', 'x-h', false],
      ],
    )
    assert.deepEqual(put['x-svc-required-actions'], ['asset.write', 'asset.read'])
    assert.equal(put['x-svc-reader'], false)
    assert.equal(put.responses[409].description, 'revision_mismatch')
    assert.equal(put.responses[200].headers.ETag.description, 'the tag')
    assert.equal(put.security, undefined)
    assert.deepEqual(get.security, [])
    assert.equal(get['x-svc-reader'], true)
    assert.equal(get.responses[401], undefined)
    assert.deepEqual(get.responses[200].content['application/octet-stream'].schema, {
      type: 'string',
      format: 'binary',
    })
  })
})

describe('failureCodes', () => {
  it('adds what access, input, body and a read gateway bring', () => {
    const has = (codes: readonly string[], wanted: string[]): boolean => wanted.every((code) => codes.includes(code))
    const changing = failureCodes(touch)
    assert.ok(has(changing, ['credential_missing', 'permission_missing', 'not_found', 'body_too_large']))
    assert.ok(has(changing, ['unsupported_media_type', 'method_not_allowed', 'revision_mismatch', 'draining']))
    const open = failureCodes(look)
    assert.ok(has(open, ['invalid_request', 'origin_not_allowed', 'unavailable', 'internal']))
    for (const code of ['credential_missing', 'permission_missing', 'method_not_allowed', 'body_too_large'] as const)
      assert.ok(!open.includes(code), code)
    assert.equal(new Set(changing).size, changing.length)
  })
})

describe('defineOperation', () => {
  it('refuses declarations that contradict themselves', () => {
    assert.throws(() => defineOperation({ ...touch, path: '/things/{repository}' }), /touchThing: the path/)
    assert.throws(
      () => defineOperation({ ...touch, path: '/things/{rest*}', pathParameters: fields({ rest: Type.String() }) }),
      /needs \{repository\}/,
    )
    assert.throws(() => defineOperation({ ...touch, method: 'GET' }), /a GET has no body/)
  })
})
