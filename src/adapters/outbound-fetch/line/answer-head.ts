/** What follows a head: nothing, so many bytes, chunks, or all that comes until the connection is closed. */
export type AnswerBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'rest' }

/** As much of the head of an answer as a line needs. */
export interface AnswerHead {
  readonly status: number
  readonly location: string | undefined
  readonly body: AnswerBody
  /** The connection may be used for the next request. */
  readonly isKept: boolean
}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/
const headerLine = /^([!#$%&'*+\-.^_`|~\dA-Za-z]+):[ \t]*(.*?)[ \t]*$/
/** Neither these nor a line break that is none may stand in a head. */
const forbidden = ['\0', '\r', '\n'] as const

/**
 * Reads a head, without the empty line that ends it. Null for what is no HTTP; where two headers disagree about where
 * the answer ends, as well: whoever believes one of them takes a part of one answer for another.
 */
export const parseAnswerHead = (text: string): AnswerHead | null => {
  const [first = '', ...lines] = text.split('\r\n')
  const [, minor, code] = statusLine.exec(first) ?? []
  if (code === undefined || forbidden.some((each) => first.includes(each))) return null
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name, value] = headerLine.exec(line) ?? []
    if (name === undefined || value === undefined || forbidden.some((each) => value.includes(each))) return null
    const key = name.toLowerCase()
    const before = headers.get(key)
    headers.set(key, before === undefined ? value : `${before}, ${value}`)
  }
  const status = Number(code)
  const body = bodyOf(status, headers)
  if (body === null) return null
  const said = headers.get('connection')?.toLowerCase() ?? ''
  const isKept = minor === '1' && !/(?:^|[ \t,])close(?:$|[ \t,])/.test(said) && body.kind !== 'rest'
  return { status, location: headers.get('location'), body, isKept }
}

const bodyOf = (status: number, headers: ReadonlyMap<string, string>): AnswerBody | null => {
  const length = headers.get('content-length')
  const coding = headers.get('transfer-encoding')
  if (length !== undefined && (coding !== undefined || !/^\d{1,15}$/.test(length))) return null
  if (status < 200 || status === 204 || status === 304) return { kind: 'none' }
  if (coding !== undefined) return { kind: coding.toLowerCase() === 'chunked' ? 'chunked' : 'rest' }
  return length === undefined ? { kind: 'rest' } : { kind: 'length', bytes: Number(length) }
}

/** Where chunks and what trails them end; null while more has to come, and NaN where they are none. */
export const chunksEnd = (text: string): number | null => {
  for (let at = 0; ; ) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd === -1) return null
    const [, size] = /^([\dA-Fa-f]{1,6})(?:[ \t]*;[^\r\n]*)?$/.exec(text.slice(at, lineEnd)) ?? []
    if (size === undefined) return Number.NaN
    const bytes = Number.parseInt(size, 16)
    if (bytes === 0) {
      // Trailers, if any, end with an empty line.
      const end = text.indexOf('\r\n\r\n', lineEnd)
      return end === -1 ? null : end + 4
    }
    at = lineEnd + 2 + bytes + 2
    if (text.length < at) return null
    if (text.slice(at - 2, at) !== '\r\n') return Number.NaN
  }
}
