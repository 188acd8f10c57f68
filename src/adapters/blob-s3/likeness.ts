import { hash } from 'node:crypto'

/**
 * What the store's own word of an object is worth. Most stores make ETags of MD5s, so that it can be said beforehand
 * which one a copy or a whole will have; some, and some kinds of encryption, make them up. A store of which an ETag
 * once came out as expected makes them so: from then on another one means other bytes.
 */
export class Likeness {
  #isKnown = false

  /** False where the ETag is known to be that of other bytes. */
  mayBe(expected: string, answered: string): boolean {
    const isSame = sameEtag(expected, answered)
    if (isSame) this.#isKnown = true
    return isSame || !this.#isKnown
  }
}

/** Some answers quote what others do not. */
export const sameEtag = (one: string, other: string): boolean => bare(one) === bare(other)

const bare = (etag: string): string => etag.replaceAll('"', '')

const ofMd5 = /^"?([0-9a-f]{32})"?$/

/** The ETag of an object that was put together from such parts: the MD5 of their MD5s, and their number. */
export const wholeEtag = (parts: readonly string[]): string | null => {
  const digests = parts.map((part) => ofMd5.exec(part)?.[1])
  if (digests.includes(undefined)) return null
  return `"${hash('md5', Buffer.from(digests.join(''), 'hex'))}-${parts.length}"`
}
