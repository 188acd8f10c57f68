import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { SentBytes } from '../../contract/operation.ts'
import { invalid } from '../../kernel/failure.ts'
import { lfsMediaType } from './vocabulary.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * A body of the protocol, whatever media type its client gives to it. Throws `invalid_request` (422 on this wire) for
 * what is no JSON, and for JSON that has not the fields. Where none is needed, nothing is as good as an empty object.
 */
export const bodyAs = <S extends TSchema>(schema: S, { bytes }: SentBytes): Static<S> => {
  const value = bytes.byteLength === 0 && Value.Check(schema, {}) ? {} : parsed(bytes)
  if (Value.Check(schema, value)) return value
  const [first] = Value.Errors(schema, value)
  throw invalid(first?.instancePath ?? '', first?.message ?? 'is not as the protocol has it')
}

const parsed = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw invalid('', 'the body is no JSON')
  }
}

const headers = { 'content-type': lfsMediaType, 'cache-control': 'no-store' }

/** An answer of the protocol. */
export const told = (json: unknown, status = 200) => ({ status, text: JSON.stringify(json), headers })
