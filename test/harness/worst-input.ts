import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { TSchema } from 'typebox'
import { compileValidator, type Validator } from '../../src/http/pipeline/validation.ts'
import { Failure } from '../../src/kernel/failure.ts'

/** JSON Schema as the catalogue has it. */
export type Schema = Readonly<Record<string, unknown>>

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A schema of the catalogue, as a plain object. */
export const plain = (declared: object): Schema => ({ ...declared })

const schemasOf = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isSchema) : [])

export const branchesOf = (schema: Schema): Schema[] => schemasOf(schema['anyOf'])
const itemsOf = ({ items }: Schema): Schema => (isSchema(items) ? items : {})
export const propertiesOf = ({ properties }: Schema): [string, Schema][] =>
  Object.entries(isSchema(properties) ? properties : {}).filter((entry): entry is [string, Schema] =>
    isSchema(entry[1]),
  )
export const patternPropertiesOf = (schema: Schema): [string, Schema][] =>
  Object.entries(isSchema(schema['patternProperties']) ? schema['patternProperties'] : {}).filter(
    (entry): entry is [string, Schema] => isSchema(entry[1]),
  )

const matching = (pattern: string): string =>
  fc.sample(fc.stringMatching(new RegExp(pattern, 'u')), { numRuns: 1, seed: 1 })[0] ?? ''

/** A value that the schema takes, as short as it likes. */
export const sampleOf = (schema: Schema): unknown => {
  const [branch] = branchesOf(schema)
  if (branch !== undefined) return sampleOf(branch)
  if ('const' in schema) return schema['const']
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  switch (schema['type']) {
    case 'object':
      return Object.fromEntries(propertiesOf(schema).map(([name, of]) => [name, sampleOf(of)]))
    case 'array':
      return Array.from({ length: Number(schema['minItems'] ?? 0) }, () => sampleOf(itemsOf(schema)))
    case 'integer':
    case 'number':
      return schema['minimum'] ?? 0
    case 'boolean':
      return false
    case 'null':
      return null
    default:
      return typeof schema['pattern'] === 'string' && Number(schema['minLength'] ?? 0) === 0
        ? matching(schema['pattern'])
        : 'a'.repeat(Number(schema['minLength'] ?? 1))
  }
}

/** An input that was made to cost: which way, and the value of about so many characters of JSON. */
export interface Worst {
  readonly what: string
  readonly of: (characters: number) => unknown
}

const times = (count: number, one: (index: number) => unknown): unknown[] =>
  Array.from({ length: Math.max(1, Math.floor(count)) }, (_, index) => one(index))

const length = (value: unknown): number => JSON.stringify(value).length + 1

const repeated = (what: string, one: (index: number) => unknown): Worst => ({
  what,
  of: (characters) => times(characters / length(one(100)), one),
})

const keyed = (what: string, key: (index: number) => string, value: unknown): Worst => ({
  what,
  of: (characters) =>
    Object.fromEntries(
      times(characters / (14 + length(value)), (index) => [key(Number(index)), value]) as [string, 0][],
    ),
})

const text = (what: string, unit: string, end = ''): Worst => ({
  what,
  of: (characters) => unit.repeat(characters / JSON.stringify(unit).slice(1, -1).length) + end,
})

const nested = (what: string, open: (inner: unknown) => unknown, cost: number): Worst => ({
  what,
  of: (characters) => {
    let value: unknown = 0
    for (let depth = 0; depth < characters / cost; depth++) value = open(value)
    return value
  },
})

/** Whatever a schema wants, these may stand there instead. */
const anywhere: readonly Worst[] = [
  repeated('equal numbers', () => 0),
  repeated('unequal numbers', (index) => index),
  repeated('unequal texts', (index) => `text-${index}`),
  repeated('equal objects but one', (index) => ({ a: { b: [index] } })),
  repeated('empty lists', () => []),
  keyed('many keys', (index) => `key-${index}`, 0),
  nested('deep lists', (inner) => [inner], 2),
  nested('deep objects', (inner) => ({ a: inner }), 6),
  text('a long text', 'a'),
  text('a long text with a wrong end', 'a', '\n'),
  text('a long text of dots', '.-'),
  text('a long text of two units each', '🔑'),
]

/** The worst that the schema itself makes of its place. */
const here = (schema: Schema): Worst[] => {
  const found: Worst[] = []
  if (schema['type'] === 'array') {
    const item = itemsOf(schema)
    const values = Array.isArray(item['enum']) ? item['enum'] : [sampleOf(item)]
    found.push(repeated('many valid items', (index) => values[index % values.length]))
    found.push(repeated('many items that are nearly valid', (index) => `${String(values[0])}${index}`))
  }
  for (const [pattern, of] of patternPropertiesOf(schema)) {
    const key = matching(pattern).slice(0, 1)
    found.push(keyed('many fitting keys', (index) => `${key}${index}`, sampleOf(of)))
    found.push({ what: 'a long key', of: (characters) => ({ [key.repeat(characters)]: '' }) })
  }
  if (typeof schema['pattern'] === 'string') {
    const sample = matching(schema['pattern'])
    found.push(text('its pattern again and again', sample === '' ? 'a' : sample))
    found.push(
      text('its pattern again and again, and an end that does not fit', sample === '' ? 'a' : sample, '\u0000'),
    )
  }
  return found
}

/**
 * One place of the schema after the other, each filled with everything that may cost there, the rest around it valid.
 */
export const worstInputs = (declared: object): Worst[] => {
  const schema = plain(declared)
  const found: Worst[] = [...anywhere, ...here(schema)]
  const around = (where: string, inner: Schema, put: (value: unknown) => unknown): void => {
    for (const { what, of } of worstInputs(inner))
      found.push({ what: `${where}/${what}`, of: (characters) => put(of(characters)) })
  }
  for (const branch of branchesOf(schema)) around('|', branch, (value) => value)
  if (schema['type'] === 'array') {
    around('[0]', itemsOf(schema), (value) => [value])
  }
  if (schema['type'] === 'object') {
    const sample = sampleOf(schema)
    const whole = isSchema(sample) ? sample : {}
    for (const [name, of] of propertiesOf(schema)) around(name, of, (value) => ({ ...whole, [name]: value }))
    for (const [pattern, of] of patternPropertiesOf(schema))
      around('{key}', of, (value) => ({ [matching(pattern).slice(0, 8)]: value }))
  }
  return found
}

/** A value that counts what is asked of it: each look at a field, a length or a key. */
const counted = (value: unknown): { value: unknown; looks: () => number } => {
  let looks = 0
  const known = new WeakMap<object, object>()
  const wrapped = (inner: unknown): unknown => {
    if (typeof inner !== 'object' || inner === null) return inner
    const before = known.get(inner)
    if (before !== undefined) return before
    const proxy = new Proxy(inner, {
      get: (target, name, receiver) => {
        looks++
        return wrapped(Reflect.get(target, name, receiver === proxy ? target : receiver))
      },
      has: (target, name) => {
        looks++
        return Reflect.has(target, name)
      },
      getOwnPropertyDescriptor: (target, name) => {
        looks++
        return Reflect.getOwnPropertyDescriptor(target, name)
      },
    })
    known.set(inner, proxy)
    return proxy
  }
  return { value: wrapped(value), looks: () => looks }
}

const validators = new WeakMap<TSchema, Validator>()

/** How often the check of a JSON body looks at the value, whether it takes or refuses it. */
export const looksAt = (schema: TSchema, input: unknown): number => {
  const validate = validators.get(schema) ?? compileValidator(schema, 'body')
  validators.set(schema, validate)
  const { value, looks } = counted(input)
  try {
    validate(value)
  } catch (error) {
    assert.ok(error instanceof Failure, String(error))
  }
  return looks()
}
