import { type Sha256, toSha256 } from '../../../kernel/digest.ts'
import type { Stored } from './data-files.ts'
import { isDataName } from './layout.ts'

/** Where the bytes of a blob are in a vault: in a file of their own, or from an offset of a pack on. */
export interface Entry {
  readonly digest: Sha256
  readonly bytes: number
  readonly offset: number
  readonly stored: Stored
}

/** A line of the list of a point: digest, bytes, offset, and the file as it lies there. */
export const entryText = ({ digest, bytes, offset, stored }: Entry): string =>
  `${digest} ${bytes} ${offset} ${stored.name} ${stored.bytes} ${stored.sha256}`

/**
 * Reads lines of a list. Many in a row are about one file, as packs are: it is read once, and is one object. What it is
 * called keeps the text of the list from which it was read out of memory for nobody.
 */
export class EntryReader {
  #text = ''
  #stored: Stored | null = null

  /** Throws a RangeError for what {@link entryText} did not write. */
  read(line: string): Entry {
    const bytesEnd = line.indexOf(' ', digestEnd + 1)
    const offsetEnd = line.indexOf(' ', bytesEnd + 1)
    if (line[digestEnd] !== ' ' || bytesEnd < 0 || offsetEnd < 0) throw new RangeError('a line of a list is none')
    return {
      digest: toSha256(line.slice(0, digestEnd)),
      bytes: count(line.slice(digestEnd + 1, bytesEnd)),
      offset: count(line.slice(bytesEnd + 1, offsetEnd)),
      stored: this.#storedOf(line.slice(offsetEnd + 1)),
    }
  }

  #storedOf(text: string): Stored {
    if (this.#stored !== null && text === this.#text) return this.#stored
    // A copy, since a piece of a string keeps all of it in memory.
    this.#text = Buffer.from(text).toString()
    const [name = '', bytes, sha256 = '', more] = this.#text.split(' ')
    if (more !== undefined || !isDataName(name)) throw new RangeError('a line of a list is none')
    this.#stored = { name, bytes: count(bytes), sha256: toSha256(sha256) }
    return this.#stored
  }
}

/** Throws a RangeError for what {@link entryText} did not write. */
export const entryOf = (line: string): Entry => new EntryReader().read(line)

const digestEnd = 64

const countForm = /^\d{1,16}$/

const count = (text: string | undefined): number => {
  const number = Number(text)
  if (text === undefined || !countForm.test(text) || !Number.isSafeInteger(number))
    throw new RangeError('a line of a list has no number where one should be')
  return number
}
