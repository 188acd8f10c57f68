import { Tally } from './tally.ts'

/**
 * Things that networks have, each in the order in which it got them. What has to go for others is the oldest of the
 * network that has most; what has no network (a proxy that is trusted, which speaks for many) goes last.
 */
export class Shares<T> {
  readonly #things = new Map<string | null, Set<T>>()
  readonly #tally = new Tally()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** What has to go first, and whose it is; null when there is none. */
  get oldestOfMost(): { readonly network: string | null; readonly thing: T } | null {
    const network = this.#tally.most
    for (const thing of this.#things.get(network) ?? []) return { network, thing }
    return null
  }

  /** What is there already keeps its seat. */
  add(network: string | null, thing: T): void {
    const things = this.#things.get(network) ?? new Set()
    if (things.has(thing)) return
    this.#things.set(network, things.add(thing))
    if (network !== null) this.#tally.add(network)
    this.#size += 1
  }

  /** False when it was not there. */
  delete(network: string | null, thing: T): boolean {
    const things = this.#things.get(network)
    if (things?.delete(thing) !== true) return false
    if (things.size === 0) this.#things.delete(network)
    if (network !== null) this.#tally.remove(network)
    this.#size -= 1
    return true
  }
}
