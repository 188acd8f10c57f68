import type { Static, TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import type { SentBytes } from '../../contract/operation.ts'
import { Failure, invalid } from '../../kernel/failure.ts'
import { isBeyond } from '../../kernel/json-pieces.ts'
import { batchObjectsMax, explainedPiecesMax, lfsPiecesMax } from '../../kernel/limits/lfs.ts'
import { lfsMediaType } from './vocabulary.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The checks of schemas, each made when first needed. */
const validators = new WeakMap<TSchema, Validator>()

const validatorOf = (schema: TSchema): Validator => {
  const known = validators.get(schema)
  if (known !== undefined) return known
  const made = Compile(schema)
  validators.set(schema, made)
  return made
}

/**
 * A body of the protocol, whatever media type its client gives to it. Throws `invalid_request` (422 on this wire) for
 * what is no JSON, and for JSON that has not the fields; 413 for what is made of more than anybody needs, before it is
 * taken apart.
 */
export const bodyAs = <S extends TSchema>(schema: S, { bytes }: SentBytes): Static<S> => {
  const validator = validatorOf(schema)
  const text = read(() => utf8.decode(bytes))
  const value = text === '' && validator.Check({}) ? {} : parsed(text)
  if (isAs(schema, validator, value)) return value
  // To look for what is wrong takes far longer than to see that something is.
  const [first] = isBeyond(text, explainedPiecesMax) ? [] : validator.Errors(value)
  throw invalid(first?.instancePath ?? '', first?.message ?? 'the body is not as the protocol has it')
}

const isAs = <S extends TSchema>(_schema: S, validator: Validator, value: unknown): value is Static<S> =>
  validator.Check(value)

const parsed = (text: string): unknown => {
  if (isBeyond(text, lfsPiecesMax))
    throw new Failure(
      'body_too_large',
      `A body has at most ${lfsPiecesMax.count} brackets, commas and colons here, and ${lfsPiecesMax.depth} levels. ` +
        `A batch asks about at most ${batchObjectsMax} objects.`,
    )
  return read(() => JSON.parse(text))
}

const read = <T>(work: () => T): T => {
  try {
    return work()
  } catch {
    throw invalid('', 'the body is no JSON')
  }
}

const headers = { 'content-type': lfsMediaType, 'cache-control': 'no-store' }

/** An answer of the protocol. */
export const told = (json: unknown, status = 200) => ({ status, text: JSON.stringify(json), headers })
