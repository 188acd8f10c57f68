import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { analyse } from 'scslre'
import type { Operation } from '../../src/contract/operation.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import {
  branchesOf,
  isSchema,
  looksAt,
  patternPropertiesOf,
  plain,
  propertiesOf,
  worstInputs,
} from '../harness/worst-input.ts'

const operations = catalogue()

/**
 * Why checking a value against the pattern could take more than one look at each of its characters; null if it cannot.
 */
const patternFault = (pattern: string): string | null => {
  if (!/^\^.*\$$/su.test(pattern)) return 'must hold for the whole text, from ^ to $'
  if (/\([^()]*\|[^()]*\)(?:[*+]|\{\d+,)/u.test(pattern.replaceAll(/\[[^\]]*\]/gu, '.')))
    return 'repeats a choice, which may be made in many ways'
  const [report] = analyse({ source: pattern, flags: 'u' }, { maxReports: 1 }).reports
  return report === undefined ? null : `takes more than linear time, for instance on many ${report.character.pick}`
}

/** What in a schema lets work or memory grow beyond its input, with the place where. */
const faultsOf = (declared: object, at: string, isBody: boolean): string[] => {
  const schema = plain(declared)
  const { type, pattern } = schema
  const inner: string[] = branchesOf(schema).flatMap((branch, index) => faultsOf(branch, `${at}|${index}`, isBody))
  const fault = typeof pattern === 'string' ? patternFault(pattern) : null
  if (fault !== null) inner.push(`${at}: its pattern ${fault}`)
  if (type === undefined && branchesOf(schema).length === 0 && !('const' in schema))
    inner.push(`${at}: says no type, so that anything may stand there`)
  if (type === 'array') {
    const items = isSchema(schema['items']) ? schema['items'] : {}
    if (schema['maxItems'] === undefined) inner.push(`${at}: says no maxItems`)
    if (schema['uniqueItems'] === true && !['string', 'integer', 'boolean'].includes(String(items['type'])))
      inner.push(`${at}: uniqueItems compares each with each unless the items are of one plain type`)
    inner.push(...faultsOf(items, `${at}[]`, isBody))
  }
  if (type === 'string' && isBody) {
    const bounded = typeof pattern === 'string' && !/[*+]|,\}/.test(pattern.replaceAll(/\[[^\]]*\]/g, '.'))
    if (schema['maxLength'] === undefined && schema['enum'] === undefined && !bounded)
      inner.push(`${at}: says no maxLength`)
  }
  if (type === 'object') {
    const kinds = patternPropertiesOf(schema)
    if (schema['additionalProperties'] !== false) inner.push(`${at}: takes properties that nobody declared`)
    if (kinds.length > 0 && schema['maxProperties'] === undefined) inner.push(`${at}: says no maxProperties`)
    for (const [key, of] of kinds) {
      const keyFault = patternFault(key)
      if (keyFault !== null) inner.push(`${at}: the pattern of its keys ${keyFault}`)
      inner.push(...faultsOf(of, `${at}/{key}`, isBody))
    }
    for (const [name, of] of propertiesOf(schema)) inner.push(...faultsOf(of, `${at}/${name}`, isBody))
  }
  return inner
}

const bodyOf = ({ body }: Operation): object | null => (body.kind === 'json' ? body.schema : null)

describe('what operations take in', () => {
  it('is bounded, by patterns that take linear time and lists whose items are easily compared', () => {
    const faults = operations.flatMap((operation) => {
      const { id, pathParameters, query, headers } = operation
      const body = bodyOf(operation)
      return [
        ...faultsOf(pathParameters, `${id} path`, false),
        // Of a query others may be taken: they are passed over.
        ...faultsOf({ ...query, additionalProperties: false }, `${id} query`, false),
        ...faultsOf(headers, `${id} headers`, false),
        ...(body === null ? [] : faultsOf(body, `${id} body`, true)),
      ]
    })
    assert.deepEqual(faults, [])
  })

  it('would be found out', () => {
    const faulty: object[] = [
      { type: 'array', items: { type: 'string', maxLength: 1 } },
      { type: 'array', maxItems: 9, uniqueItems: true, items: { type: 'object', additionalProperties: false } },
      { type: 'string' },
      { type: 'string', pattern: '^[a-z]+$' },
      { type: 'string', maxLength: 9, pattern: '^(a*)*$' },
      { type: 'string', maxLength: 9, pattern: '^(a|a)*$' },
      { type: 'string', maxLength: 9, pattern: 'a' },
      { type: 'object' },
      { enum: ['a'] },
    ]
    for (const schema of faulty) assert.equal(faultsOf(schema, 'it', true).length, 1, JSON.stringify(schema))
  })
})

describe('the check of a JSON body', () => {
  it('looks at four times the input no more than four times as often, and never often', () => {
    for (const operation of operations) {
      if (operation.body.kind !== 'json') continue
      for (const { what, of } of worstInputs(operation.body.schema)) {
        const few = looksAt(operation.body.schema, of(operation.body.maxBytes / 256))
        const many = looksAt(operation.body.schema, of(operation.body.maxBytes / 64))
        assert.ok(many <= 5 * few + 20_000, `${operation.id}: ${what}: ${few} looks, then ${many}`)
      }
    }
  })
})
