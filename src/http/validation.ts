import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import { Failure, type FailureDetail } from '../kernel/failure.ts'
import { problemDetailsMax } from '../kernel/limits.ts'

/** One compiler for all schemas, made when first needed: each takes half a megabyte. */
let compiler: Ajv | null = null

/** No coercion, no defaults, no removal: what is not as declared is refused. */
const ajv = (): Ajv => {
  compiler ??= new Ajv({ allErrors: true, verbose: true, strict: true, validateFormats: false })
  return compiler
}

/** Where the checked value came from; becomes the first part of each pointer. Bodies have none. */
export type Place = 'body' | 'query' | 'path' | 'headers'

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

const details = (errors: readonly ErrorObject[], place: Place): FailureDetail[] => {
  const prefix = place === 'body' ? '' : `/${place}`
  // A union reports each of its branches and then itself; the branches say more.
  const leaves = errors.filter((error) => error.keyword !== 'anyOf')
  return (leaves.length > 0 ? leaves : errors).slice(0, problemDetailsMax).map((error) => {
    const { pointer, message } = describe(error)
    return { pointer: prefix + pointer, message }
  })
}

/** A function that throws a 400 naming every invalid field, and returns for valid values. */
export const compileValidator = (schema: TSchema, place: Place): Validator => {
  const validate: ValidateFunction = ajv().compile(schema)
  return (value) => {
    if (validate(value)) return
    const found = details(validate.errors ?? [], place)
    const first = found[0]
    const named = first === undefined || first.pointer === '' ? `The ${place}` : first.pointer
    const more = found.length > 1 ? ` (and ${found.length - 1} more, see details)` : ''
    throw new Failure('invalid_request', `${named} ${first?.message ?? 'is not valid'}${more}.`, { details: found })
  }
}
