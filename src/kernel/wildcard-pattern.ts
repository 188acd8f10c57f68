/**
 * Whether a text is as a pattern says, in which `*` stands for any characters, or none; everything else is itself. What
 * stands between two of them is looked for from left to right and never again, so that no pattern takes long.
 */
export const matchesPattern = (pattern: string, text: string): boolean => {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return text === first
  const end = text.length - last.length
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const piece of others) {
    const found = text.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return at <= end
}
