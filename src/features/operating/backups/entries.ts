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

/** Throws a RangeError for what {@link entryText} did not write. */
export const entryOf = (line: string): Entry => {
  const [digest = '', bytes, offset, name = '', storedBytes, sha256 = '', more] = line.split(' ')
  if (more !== undefined || !isDataName(name)) throw new RangeError('a line of a list is none')
  return {
    digest: toSha256(digest),
    bytes: count(bytes),
    offset: count(offset),
    stored: { name, bytes: count(storedBytes), sha256: toSha256(sha256) },
  }
}

const count = (text: string | undefined): number => {
  const number = Number(text)
  if (text === undefined || !/^\d{1,16}$/.test(text) || !Number.isSafeInteger(number))
    throw new RangeError('a line of a list has no number where one should be')
  return number
}
