import { randomUUID } from 'node:crypto'
import type { TSchema } from 'typebox'
import { patterns } from '../../src/kernel/names.ts'
import { patterns as ofImages } from '../../src/protocols/oci/vocabulary.ts'
import { freshName } from './service-keys.ts'

/** Texts of the grammars that have one of their own, by pattern. */
const texts: Readonly<Record<string, () => string>> = {
  [patterns.uuid]: () => randomUUID(),
  [patterns.sha256]: () => 'a'.repeat(64),
  [ofImages.digest]: () => `sha256:${'a'.repeat(64)}`,
  [patterns.repositoryId]: () => freshName('repository'),
  [patterns.byteCount]: () => '1',
  [patterns.sequence]: () => '0',
  [patterns.dateTime]: () => '2020-01-01T00:00:00Z',
  [patterns.utcMilliseconds]: () => '2020-01-01T00:00:00.000Z',
}

/**
 * The least that a schema of ours takes: an object with its required fields, the first of what may be chosen, names
 * that nobody has. Whoever uses it lets the schema judge it.
 */
export const sampleOf = (schema: TSchema): unknown => {
  const { type, anyOf, enum: values, const: only, properties, required, items, minItems, minimum } = fieldsOf(schema)
  if (only !== undefined) return only
  if (Array.isArray(values)) return values[0]
  if (Array.isArray(anyOf)) return sampleOf(anyOf[0])
  if (type === 'object') {
    const names = Array.isArray(required) ? required.map(String) : []
    return Object.fromEntries(names.map((name) => [name, sampleOf(fieldsOf(properties)[name] as TSchema)]))
  }
  if (type === 'array') return typeof minItems === 'number' && minItems > 0 ? [sampleOf(items as TSchema)] : []
  if (type === 'integer') return typeof minimum === 'number' ? minimum : 1
  if (type === 'boolean') return false
  return textOf(schema)
}

const textOf = (schema: TSchema): string => {
  const { pattern, minLength } = fieldsOf(schema)
  const made = texts[String(pattern)]?.() ?? freshName('sample')
  return typeof minLength === 'number' ? made.padEnd(minLength, 'x') : made
}

const fieldsOf = (value: unknown): Record<string, unknown> => ({ ...(typeof value === 'object' ? value : {}) })
