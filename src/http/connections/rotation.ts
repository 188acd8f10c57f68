/** Things that wait, taken one from each who has some in turn, and of each in the order in which they came. */
export class Rotation<T> {
  readonly #waiting = new Map<string, Set<T>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(whose: string, thing: T): void {
    const things = this.#waiting.get(whose) ?? new Set()
    this.#waiting.set(whose, things.add(thing))
    this.#size += 1
  }

  /** False when it was not there. */
  delete(whose: string, thing: T): boolean {
    const things = this.#waiting.get(whose)
    if (things?.delete(thing) !== true) return false
    if (things.size === 0) this.#waiting.delete(whose)
    this.#size -= 1
    return true
  }

  /** The next thing, which is gone from here then; its owner comes last. */
  take(): T | undefined {
    for (const [whose, things] of this.#waiting)
      for (const thing of things) {
        this.delete(whose, thing)
        if (things.size > 0) {
          this.#waiting.delete(whose)
          this.#waiting.set(whose, things)
        }
        return thing
      }
    return undefined
  }
}
