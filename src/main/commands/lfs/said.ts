import Type from 'typebox'
import { Value } from 'typebox/value'

const Refusal = Type.Object({ message: Type.String() })

/** JSON as a server sent it; null for what is none. */
export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Why a server of Git LFS refuses, in its own words. */
export const messageIn = (text: string): string => {
  const said = parsed(text)
  return (Value.Check(Refusal, said) ? said.message : 'it does not say why.').slice(0, 300)
}
