/** Half-open byte interval of a body. */
export interface ByteRange {
  readonly start: number
  /** One past the last byte. */
  readonly end: number
}

const form = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i

/**
 * What a `Range` header asks of a body of `size` bytes (RFC 9110, section 14.1.2).
 *
 * - a range: send 206 with it
 * - `'whole'`: not a single bytes range (malformed, ending before it begins, another unit, several ranges): the header
 *   is ignored, as section 14.2 says
 * - `'unsatisfiable'`: send 416
 *
 * Positions have any number of digits. Where a number does not hold them exactly they lie beyond every size all the
 * same.
 */
export const resolveRange = (header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' => {
  if (header === undefined) return 'whole'
  const match = form.exec(header.trim())
  if (match === null) return 'whole'
  const [, first, last, suffix] = match
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size }
  }
  const start = Number(first)
  const end = last === '' || last === undefined ? size : Math.min(Number(last) + 1, size)
  if (last !== '' && last !== undefined && isBelow(last, first ?? '')) return 'whole'
  return start >= size ? 'unsatisfiable' : { start, end }
}

/** Exactly, however many digits there are. */
const isBelow = (one: string, other: string): boolean => {
  const [a, b] = [one.replace(/^0+/, ''), other.replace(/^0+/, '')]
  return a.length === b.length ? a < b : a.length < b.length
}
