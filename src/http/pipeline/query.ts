import { parse } from 'node:querystring'
import type { TObject } from 'typebox'
import { invalid } from '../../kernel/failure.ts'
import { queryParametersMax } from '../../kernel/limits/http.ts'

const wholeNumber = /^(?:0|[1-9]\d{0,15})$/

/** Looks no further than it has to. */
const hasTooMany = (text: string): boolean => {
  let separators = 0
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) {
    separators += 1
    if (separators >= queryParametersMax) return true
  }
  return false
}

const isInteger = (schema: unknown): boolean =>
  typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'integer'

const isList = (schema: unknown): boolean =>
  typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'array'

/**
 * Query parameters by name, each at most once unless it is declared as a list. A parameter declared as integer is
 * turned into a number where its text is one in decimal digits; any other text is left for the schema to refuse. Where
 * the schema says that it takes others, those that it does not know are passed over.
 */
export const decodeQuery = (text: string, schema: TObject): Record<string, string | number | string[]> => {
  // Without a prototype, so that a parameter called __proto__ is one like any other: unknown.
  const decoded: Record<string, string | number | string[]> = Object.create(null)
  const takesOthers = Reflect.get(schema, 'additionalProperties') === true
  if (text === '') return decoded
  let broken = false
  if (hasTooMany(text)) throw invalid('/query', `must have at most ${queryParametersMax} parameters`)
  const parsed = parse(text, '&', '=', {
    // Counted above, empty ones too: what is not counted here would be left out unseen.
    maxKeys: 0,
    decodeURIComponent: (part) => {
      try {
        return decodeURIComponent(part)
      } catch {
        broken = true
        return part
      }
    },
  })
  if (broken) throw invalid('/query', 'must be percent-encoded UTF-8')
  for (const [name, value] of Object.entries(parsed)) {
    const declared: unknown = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    if (declared === undefined && takesOthers) continue
    if (isList(declared)) {
      decoded[name] = [value].flat().filter((each) => each !== undefined)
      continue
    }
    if (typeof value !== 'string') throw invalid(`/query/${name}`, 'must be given only once')
    decoded[name] = isInteger(declared) && wholeNumber.test(value) ? Number(value) : value
  }
  return decoded
}
