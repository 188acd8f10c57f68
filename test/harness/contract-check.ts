import assert from 'node:assert/strict'
import { Ajv, type ValidateFunction } from 'ajv'
import { failureCodes } from '../../src/contract/openapi.ts'
import { type Operation, reads } from '../../src/contract/operation.ts'
import { type Wire, wireAt } from '../../src/contract/wire.ts'
import { rest } from '../../src/http/pipeline/rest.ts'
import { isFailureCode } from '../../src/kernel/failure.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { type ProductSlice, slices } from '../../src/main/slices.ts'
import { type Ask, methodOf, type Told } from './client.ts'

/**
 * Holds every answer that a test sees against what the operation declares: a status and body that are not declared, a
 * problem without its fields, or a reason code that the operation does not list fails the test, whatever it was about.
 */
const patterned = (operations: readonly Operation[]) =>
  operations.map((operation) => ({ operation, pattern: patternOf(operation.path) }))
const ofTheProduct = patterned(catalogue())
const ajv = new Ajv({ strict: true, validateFormats: false })
const compiled = new Map<object, ValidateFunction>()

function patternOf(template: string): RegExp {
  const escaped = template.replaceAll('.', '\\.')
  return new RegExp(`^${escaped.replace(/\{[a-zA-Z]+[*+]\}/, '.*').replaceAll(/\{[a-zA-Z]+\}/g, '[^/]+')}$`)
}

const operationOf = (asked: Ask, more: readonly ProductSlice[]): Operation | undefined => {
  const method = methodOf(asked)
  const [sent = ''] = asked.path.split('?', 1)
  const plain = wireOf(asked, more).spelled?.(sent) ?? sent
  const beside = patterned(more.flatMap(({ operations }) => operations))
  return [...ofTheProduct, ...beside].find(
    ({ operation, pattern }) =>
      pattern.test(plain) && (operation.method === method || (method === 'HEAD' && reads(operation))),
  )?.operation
}

const validator = (schema: object): ValidateFunction => {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const made = ajv.compile(schema)
  compiled.set(schema, made)
  return made
}

const wireOf = ({ path }: Ask, more: readonly ProductSlice[]): Wire =>
  wireAt(
    [...slices, ...more].flatMap(({ wire }) => wire ?? []),
    path,
    rest,
  )

/** How a protocol of others tells of a failure is for its own tests to say. */
const isSpokenHere = (asked: Ask, more: readonly ProductSlice[]): boolean => wireOf(asked, more) === rest

export const keepsItsContract = (asked: Ask, told: Told, more: readonly ProductSlice[] = []): void => {
  const what = `${methodOf(asked)} ${asked.path} -> ${told.status}`
  const requestId = told.headers['x-request-id']
  assert.equal(typeof requestId, 'string', `${what}: no X-Request-Id`)
  if (asked.method === 'HEAD') {
    assert.equal(told.bytes.byteLength, 0, `${what}: a HEAD answer has no body`)
    return
  }
  // The answer to a browser's preflight is made before any operation is looked up.
  if (asked.method === 'OPTIONS' && told.status === 204) return
  const operation = operationOf(asked, more)
  const declared = operation?.responses[told.status]
  if (declared === undefined) {
    assert.ok(told.status >= 400, `${what}: ${operation?.id} does not declare this status`)
    if (isSpokenHere(asked, more)) assertProblem(what, told, operation)
  } else if (declared.schema !== null) {
    const validate = validator(declared.schema)
    assert.ok(validate(told.json), `${what}: ${JSON.stringify(validate.errors)} in ${told.text.slice(0, 500)}`)
  }
}

const assertProblem = (what: string, told: Told, operation: Operation | undefined): void => {
  assert.match(String(told.headers['content-type']), /^application\/problem\+json/, what)
  const problem = told.json
  assert.equal(problem.status, told.status, what)
  assert.equal(problem.type, 'about:blank', what)
  assert.equal(problem.requestId, told.headers['x-request-id'], what)
  for (const field of ['title', 'detail', 'code']) assert.ok(problem[field]?.length > 0, `${what}: no ${field}`)
  assert.ok(isFailureCode(problem.code), `${what}: unknown code ${problem.code}`)
  if (told.status === 429 || told.status === 503) {
    assert.ok(Number(told.headers['retry-after']) >= 1, `${what}: no Retry-After`)
    assert.equal(String(problem.retryAfterSeconds), told.headers['retry-after'], what)
  }
  if (told.status === 401) assert.match(String(told.headers['www-authenticate']), /^Bearer error="[a-z_]+"/, what)
  if (operation !== undefined)
    assert.ok(failureCodes(operation).includes(problem.code), `${what}: ${operation.id} does not list ${problem.code}`)
}
