import type { Entry } from './entries.ts'

/**
 * Looks up, in the order of digests, what several lists say of each: all of them are read once, side by side. Lists are
 * in the order of digests as well, and come in pages.
 */
export class KnownEntries {
  readonly #lists: readonly List[]

  constructor(lists: readonly AsyncIterable<readonly Entry[]>[]) {
    this.#lists = lists.map((list) => new List(list[Symbol.asyncIterator]()))
  }

  /** What is said of a digest, which is none before that of the last call; first what the first list says. */
  async of(digest: string): Promise<Entry[]> {
    const found: Entry[] = []
    for (const list of this.#lists) while (!list.tells(digest, found)) await list.readOn()
    return found
  }
}

class List {
  readonly #pages: AsyncIterator<readonly Entry[]>
  #page: readonly Entry[] = []
  #at = 0
  #ended = false

  constructor(pages: AsyncIterator<readonly Entry[]>) {
    this.#pages = pages
  }

  /** Adds what it says of a digest; false as long as it has to be read on for that. */
  tells(digest: string, found: Entry[]): boolean {
    for (; ; this.#at++) {
      const entry = this.#page[this.#at]
      if (entry === undefined) return this.#ended
      if (entry.digest > digest) return true
      if (entry.digest === digest) found.push(entry)
    }
  }

  async readOn(): Promise<void> {
    const { done, value } = await this.#pages.next()
    this.#ended = done === true
    this.#page = this.#ended ? [] : value
    this.#at = 0
  }
}
