import { rememberedKeyCharactersMax, rememberedMax } from './limits/process.ts'

/**
 * The same function of a text, which looks up what it said of the texts that it was asked about lately. For pure
 * functions of what comes with every request and is nearly always the same: a host, an account, a date. When it knows
 * too many it begins anew.
 */
export const remembered = <T extends NonNullable<unknown>>(of: (text: string) => T): ((text: string) => T) => {
  const known = new Map<string, T>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const value = of(text)
    if (text.length > rememberedKeyCharactersMax) return value
    if (known.size >= rememberedMax) known.clear()
    known.set(text, value)
    return value
  }
}
