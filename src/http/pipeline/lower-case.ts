import type { TSchema } from 'typebox'
import { patterns } from '../../kernel/names.ts'

const uuidLength = 36

/**
 * Texts that are or begin with UUIDs, which are compared without regard to case (RFC 9562) and stored in lower case,
 * and how many of their characters belong to those.
 */
const ofUuids: ReadonlyMap<unknown, number> = new Map([
  [patterns.uuid, uuidLength],
  [patterns.uuids, Number.POSITIVE_INFINITY],
  [patterns.stageCursor, uuidLength],
])

/**
 * Makes the ids in a value lower case, in place; answers the value. What is not as the schema says is left for its
 * validator.
 */
export type LowerCase = (value: unknown) => unknown

/** For values of this schema; null where it has no ids. Takes time as long as the value is. */
export const lowerCaseIds = (schema: TSchema): LowerCase | null => {
  const { pattern, properties, items, anyOf }: Record<string, unknown> = { ...schema }
  const length = ofUuids.get(pattern)
  if (length !== undefined)
    return (value) =>
      typeof value === 'string' ? `${value.slice(0, length).toLowerCase()}${value.slice(length)}` : value
  if (Array.isArray(anyOf))
    return oneAfterAnother(anyOf.flatMap((each) => (isSchema(each) ? (lowerCaseIds(each) ?? []) : [])))
  if (isSchema(items)) return inItems(lowerCaseIds(items))
  return isSchema(properties) ? inFields(properties) : null
}

const isSchema = (value: unknown): value is TSchema => typeof value === 'object' && value !== null

const oneAfterAnother = (ways: readonly LowerCase[]): LowerCase | null =>
  ways.length === 0 ? null : (value) => ways.reduce((changed, way) => way(changed), value)

const inItems = (way: LowerCase | null): LowerCase | null =>
  way === null ? null : (value) => (Array.isArray(value) ? value.map(way) : value)

const inFields = (properties: object): LowerCase | null => {
  const ways = Object.entries(properties).flatMap(([name, schema]: [string, unknown]) => {
    const way = isSchema(schema) ? lowerCaseIds(schema) : null
    return way === null ? [] : [[name, way] as const]
  })
  if (ways.length === 0) return null
  return (value) => {
    if (typeof value !== 'object' || value === null) return value
    for (const [name, way] of ways)
      if (Object.hasOwn(value, name)) Object.assign(value, { [name]: way(Reflect.get(value, name)) })
    return value
  }
}
