const quote = 0x22
const backslash = 0x5c

/** How much a JSON text may be made of. */
export interface JsonPieces {
  /** Brackets, braces, commas and colons: at least as many as there are names and values, less one. */
  readonly count: number
  /** Of brackets and braces. */
  readonly depth: number
}

/**
 * Whether a JSON text has more of anything than it may have. Objects and arrays cost far more than the bytes in which
 * they are written, so that this is asked before anybody parses them. One pass up to the bound, over any text.
 */
export const isBeyond = (text: string, max: JsonPieces): boolean => {
  let [count, open] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    if (count > max.count || open > max.depth) return true
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at)
        break
      case 0x5b: // [
      case 0x7b: // {
        open += 1
        count += 1
        break
      case 0x5d: // ]
      case 0x7d: // }
        open -= 1
        break
      case 0x2c: // ,
      case 0x3a: // :
        count += 1
        break
    }
  }
  return count > max.count || open > max.depth
}

/** Where the string that begins at `from` has its closing quote, or the text its end. */
const endOfString = (text: string, from: number): number => {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === backslash) at += 1
  }
  return text.length
}
