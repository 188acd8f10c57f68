import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import { Failure, type FailureDetail } from '../../kernel/failure.ts'
import { problemDetailsMax, problemValuesMax } from '../../kernel/limits/http.ts'

type Thoroughness = 'first' | 'all'

/** The compilers of all schemas, each made when first needed: one takes half a megabyte. */
const compilers = new Map<Thoroughness, Ajv>()

/** No coercion, no defaults, no removal: what is not as declared is refused. */
const compile = (schema: TSchema, thoroughness: Thoroughness): ValidateFunction => {
  let ajv = compilers.get(thoroughness)
  if (ajv === undefined) {
    ajv = new Ajv({ allErrors: thoroughness === 'all', verbose: true, strict: true, validateFormats: false })
    compilers.set(thoroughness, ajv)
  }
  return ajv.compile(schema)
}

/** Where the checked value came from; becomes the first part of each pointer. Bodies have none. */
export type Section = 'body' | 'query' | 'path' | 'headers'

export type Validator = (value: unknown) => void

const pointerPart = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

const describe = (error: ErrorObject): FailureDetail => {
  const at = error.instancePath
  const params: Record<string, unknown> = error.params
  switch (error.keyword) {
    case 'required':
      return { pointer: `${at}/${pointerPart(String(params['missingProperty']))}`, message: 'is required' }
    case 'additionalProperties': {
      const known: unknown = error.parentSchema?.['properties']
      const names = Object.keys(typeof known === 'object' && known !== null ? known : {})
      const message = `is not known here${names.length === 0 ? '' : `; known are ${names.join(', ')}`}`
      return { pointer: `${at}/${pointerPart(String(params['additionalProperty']))}`, message }
    }
    case 'pattern': {
      const wanted: unknown = error.parentSchema?.['description']
      const message = typeof wanted === 'string' ? `must be ${wanted}` : `must match ${String(params['pattern'])}`
      return { pointer: at, message }
    }
    case 'enum':
      return { pointer: at, message: `must be one of ${JSON.stringify(params['allowedValues'])}` }
    case 'const':
      return { pointer: at, message: `must be ${JSON.stringify(params['allowedValue'])}` }
    default:
      return { pointer: at, message: error.message ?? 'is not valid' }
  }
}

const details = (errors: readonly ErrorObject[], section: Section): FailureDetail[] => {
  const prefix = section === 'body' ? '' : `/${section}`
  // A union reports each of its branches and then itself; the branches say more.
  const leaves = errors.filter((error) => error.keyword !== 'anyOf')
  return (leaves.length > 0 ? leaves : errors).slice(0, problemDetailsMax).map((error) => {
    const { pointer, message } = describe(error)
    return { pointer: prefix + pointer, message }
  })
}

/** True for a value that consists of no more values than are worth a second look. Looks at no more than that itself. */
const isShort = (value: unknown): boolean => {
  const open: unknown[] = [value]
  for (let seen = 0; seen < problemValuesMax; seen++) {
    if (open.length === 0) return true
    if (open.length > problemValuesMax) return false
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    if (Array.isArray(next) && next.length > problemValuesMax) return false
    open.push(...Object.values(next).slice(0, problemValuesMax + 1))
  }
  return open.length === 0
}

/**
 * A function that throws a 400 naming every invalid field, and returns for valid values. It stops at the first fault,
 * so that what a schema bounds bounds the work too: a list that is too long is refused before its items are looked at.
 * Only then, and only where there is little to look at, all faults are collected.
 */
export const compileValidator = (schema: TSchema, section: Section): Validator => {
  const validate = compile(schema, 'first')
  let thorough: ValidateFunction | null = null
  const errorsOf = (value: unknown): readonly ErrorObject[] => {
    const first = validate.errors ?? []
    if (!isShort(value)) return first
    thorough ??= compile(schema, 'all')
    return thorough(value) ? first : (thorough.errors ?? first)
  }
  return (value) => {
    if (validate(value)) return
    const found = details(errorsOf(value), section)
    const first = found[0]
    const named = first === undefined || first.pointer === '' ? `The ${section}` : first.pointer
    const more = found.length > 1 ? ` (and ${found.length - 1} more, see details)` : ''
    throw new Failure('invalid_request', `${named} ${first?.message ?? 'is not valid'}${more}.`, { details: found })
  }
}
