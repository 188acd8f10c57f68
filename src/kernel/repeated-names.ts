const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const colon = 0x3a
const comma = 0x2c

/** The names of an object so far; null for an array. */
type Names = Set<string> | null

/**
 * The first name that an object of a JSON text has twice, at any depth, or null. Parsers take the last of them, and
 * others the first: what two of them disagree about is not taken. The text is well-formed; one pass over it.
 */
export const repeatedName = (text: string): string | null => {
  const open: Names[] = []
  let names: Names = null
  let expectsName = false
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = endOfString(text, at)
        if (expectsName && names !== null) {
          const name = nameAt(text, at, end)
          if (names.has(name)) return name
          names.add(name)
        }
        at = end
        break
      }
      case openBrace:
        open.push(names)
        names = new Set()
        expectsName = true
        break
      case openBracket:
        open.push(names)
        names = null
        expectsName = false
        break
      case closeBrace:
      case closeBracket:
        names = open.pop() ?? null
        expectsName = false
        break
      case colon:
        expectsName = false
        break
      case comma:
        expectsName = names !== null
        break
    }
  }
  return null
}

/** Where the string that begins at `from` has its closing quote. */
const endOfString = (text: string, from: number): number => {
  let at = from + 1
  for (let code = text.charCodeAt(at); code !== quote; code = text.charCodeAt(at)) at += code === backslash ? 2 : 1
  return at
}

/** One name may be written in several ways: it is compared as it is read. */
const nameAt = (text: string, from: number, end: number): string => {
  const plain = text.slice(from + 1, end)
  return plain.includes('\\') ? String(JSON.parse(text.slice(from, end + 1))) : plain
}
