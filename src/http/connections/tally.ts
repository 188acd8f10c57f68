/**
 * Counts things by whose they are, and knows at any time who has most, without looking at all of them: those with the
 * same count stand together.
 */
export class Tally {
  readonly #counts = new Map<string, number>()
  /** By count; the last is never empty. */
  readonly #holders: Set<string>[] = []

  /** Who has most; of several, who has had that many for longest. */
  get most(): string | null {
    for (const holder of this.#holders.at(-1) ?? []) return holder
    return null
  }

  of(holder: string): number {
    return this.#counts.get(holder) ?? 0
  }

  add(holder: string): void {
    this.#move(holder, this.of(holder) + 1)
  }

  remove(holder: string): void {
    this.#move(holder, this.of(holder) - 1)
  }

  #move(holder: string, count: number): void {
    this.#holders[this.of(holder) - 1]?.delete(holder)
    if (count > 0) {
      this.#counts.set(holder, count)
      const level = this.#holders[count - 1] ?? new Set()
      this.#holders[count - 1] = level.add(holder)
    } else {
      this.#counts.delete(holder)
    }
    while (this.#holders.at(-1)?.size === 0) this.#holders.pop()
  }
}
