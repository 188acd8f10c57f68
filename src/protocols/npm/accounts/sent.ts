import secureJson from 'secure-json-parse'
import { invalid } from '../../../kernel/failure.ts'

/** What a client sent as JSON: of its many fields those are looked at that somebody asks for here. */
export type Sent = Readonly<Record<string, unknown>>

/** 400 where the body is no JSON object. */
export const sentFields = (bytes: Uint8Array): Sent => {
  const value = parsed(Buffer.from(bytes).toString())
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('', 'must be a JSON object')
  return { ...value }
}

const parsed = (text: string): unknown => {
  try {
    return secureJson.parse(text)
  } catch {
    throw invalid('', 'must be JSON')
  }
}

/** A text of a field, of so many characters at most. 400 without one. */
export const sentText = (sent: Sent, name: string, charactersMax: number): string => {
  const value = sent[name]
  if (typeof value !== 'string' || value.length === 0 || value.length > charactersMax)
    throw invalid(`/${name}`, `must be a text of 1 to ${charactersMax} characters`)
  return value
}
