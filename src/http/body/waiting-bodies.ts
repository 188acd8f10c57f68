import type { Failure } from '../../kernel/failure.ts'

/** A body that waits for a seat. */
export interface WaitingBody {
  readonly caller: string
  begin(): void
  giveUp(failure: Failure): void
}

/**
 * Those who wait for a seat, in the order in which they came. `seatsOf` says how many somebody has, `free` how many
 * nobody has, and `share` how many each would have if all had as many.
 */
export class WaitingBodies {
  readonly #bodies = new Set<WaitingBody>()
  readonly #seatsOf: (caller: string) => number
  readonly #free: () => number
  readonly #share: () => number

  constructor(seatsOf: (caller: string) => number, free: () => number, share: () => number) {
    this.#seatsOf = seatsOf
    this.#free = free
    this.#share = share
  }

  get count(): number {
    return this.#bodies.size
  }

  add(body: WaitingBody): void {
    this.#bodies.add(body)
  }

  delete(body: WaitingBody): void {
    this.#bodies.delete(body)
  }

  /** Takes out whoever has the fewest seats, and fewer than are free; null where nobody has. */
  next(): WaitingBody | null {
    let best: WaitingBody | null = null
    for (const one of this.#bodies) {
      const seats = this.#seatsOf(one.caller)
      if (seats < this.#free() && (best === null || seats < this.#seatsOf(best.caller))) best = one
    }
    if (best !== null) this.#bodies.delete(best)
    return best
  }

  /** Who waits and has less than their share, and for how many seats: for them others may be cut off. */
  wanted(): ReadonlyMap<string, number> {
    const wanted = new Map<string, number>()
    for (const { caller } of this.#bodies) {
      const count = (wanted.get(caller) ?? 0) + 1
      if (this.#seatsOf(caller) + count <= this.#share()) wanted.set(caller, count)
    }
    return wanted
  }

  /** The last of whoever waits most often, if that is more often than this caller would; otherwise null. */
  hindmost(caller: string): WaitingBody | null {
    const counts = new Map<string, number>()
    for (const one of this.#bodies) counts.set(one.caller, (counts.get(one.caller) ?? 0) + 1)
    const [most, times] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one))
    if (times <= (counts.get(caller) ?? 0) + 1) return null
    return [...this.#bodies].findLast((one) => one.caller === most) ?? null
  }
}
