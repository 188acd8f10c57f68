import type { Timers } from './timers.ts'

/** Time that stands still until it is asked to go on, and then goes from one appointment to the next. */
export class VirtualTime implements Timers {
  #nowMs = 0
  #number = 0
  readonly #appointments = new Map<number, { atMs: number; run: () => void }>()

  now(): number {
    return this.#nowMs
  }

  after(milliseconds: number, run: () => void): () => void {
    this.#number += 1
    const number = this.#number
    this.#appointments.set(number, { atMs: this.#nowMs + milliseconds, run })
    return () => this.#appointments.delete(number)
  }

  /** Lets so much time pass. What is due at the same moment happens in the order of its making. */
  pass(milliseconds: number): void {
    const untilMs = this.#nowMs + milliseconds
    for (;;) {
      let next: { number: number; atMs: number; run: () => void } | null = null
      for (const [number, { atMs, run }] of this.#appointments)
        if (atMs <= untilMs && (next === null || atMs < next.atMs)) next = { number, atMs, run }
      if (next === null) break
      this.#appointments.delete(next.number)
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      next.run()
    }
    this.#nowMs = untilMs
  }
}

/** Numbers in [0, 1) that look random and are the same for the same seed (mulberry32). */
export const seeded = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
