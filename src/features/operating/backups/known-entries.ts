import type { Entry } from './entries.ts'

/**
 * Looks up, in the order of digests, what several lists say of each: all of them are read once, side by side. Lists are
 * in the order of digests as well.
 */
export class KnownEntries {
  readonly #lists: readonly AsyncIterator<Entry>[]
  readonly #next: (Entry | null | undefined)[]

  constructor(lists: readonly AsyncIterable<Entry>[]) {
    this.#lists = lists.map((list) => list[Symbol.asyncIterator]())
    this.#next = lists.map(() => undefined)
  }

  /** What is said of a digest, which is none before that of the last call; first what the first list says. */
  async of(digest: string): Promise<Entry[]> {
    const found: Entry[] = []
    for (const [index, list] of this.#lists.entries()) {
      for (;;) {
        const next = this.#next[index] === undefined ? await this.#read(list) : this.#next[index]
        this.#next[index] = next ?? null
        if (next === null || next === undefined || next.digest > digest) break
        if (next.digest === digest) found.push(next)
        this.#next[index] = undefined
      }
    }
    return found
  }

  async #read(list: AsyncIterator<Entry>): Promise<Entry | null> {
    const { done, value } = await list.next()
    return done === true ? null : value
  }
}
