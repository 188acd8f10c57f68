/** Half-open byte interval of a body. */
export interface ByteRange {
  readonly start: number
  /** One past the last byte. */
  readonly end: number
}

const form = /^bytes=(?:(\d{1,19})-(\d{0,19})|-(\d{1,19}))$/i

/**
 * What a `Range` header asks of a body of `size` bytes (RFC 9110, section 14.1.2).
 *
 * - a range: send 206 with it
 * - `'whole'`: not a single bytes range (malformed, another unit, several ranges): the header is ignored, as section 14.2 allows
 * - `'unsatisfiable'`: send 416; also for a range whose end lies before its start, which the section lets us reject
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
  const reversed = last !== '' && last !== undefined && Number(last) < start
  return reversed || start >= size ? 'unsatisfiable' : { start, end }
}
